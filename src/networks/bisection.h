// Divides a community into two halves with many links within and few between.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "networks/links.h"

namespace bnpvi::networks {

/// The division of a community. of: the community. leaves: the nodes that leave it for a new community, in
/// ascending order.
struct Division {
  Index of;
  std::vector<int> leaves;
};

/// Divides `nodes` into two halves of high modularity [Newman 2006]: within the halves there are more links
/// than the degrees of the nodes would give at random. A search starts with a breadth-first search from two
/// random nodes, which assigns each node to the nearer one. Then nodes change sides as long as that raises
/// the modularity. The best of `tries` searches is used. Only links among `nodes` count.
///
/// Returns the nodes of one half. It is empty if no division has two halves. Nodes without links to the
/// others are never in it. `nodes` must be ascending, and so is the result. The time is proportional to the
/// number of links of the nodes.
std::vector<int> bisected(const Links& links, const std::vector<int>& nodes, int tries, Stream& stream);

/// Divides all nodes into more and more groups. Each step divides the group with most link ends into two.
class Groups {
 public:
  /// Starts with one group of all nodes. tries: as in bisected().
  Groups(const Links& links, int tries, Stream& stream);

  Index k() const { return static_cast<Index>(groups_.size()); }
  /// Divides one group by bisected(). The nodes that leave it become the last group, and `done` receives the
  /// division. Returns false if no group can be divided in this way.
  bool divide(Division& done);
  /// Divides the largest group into two halves in the order of its nodes, without regard to links.
  void cut();
  std::vector<int> labels() const;  // from 0

 private:
  struct Group {
    std::vector<int> nodes, half;  // half: empty if it cannot be divided
    double ends;
  };
  Group made(std::vector<int> nodes) const;
  void part(std::size_t of, const std::vector<int>& leaves);

  const Links* links_;
  int tries_;
  Stream* stream_;
  std::vector<Group> groups_;
};

/// Labels of k groups of nodes. The groups are found by links (Groups::divide()). If these are fewer than k,
/// some are divided without regard to links (Groups::cut()). k must be at most the number of nodes.
std::vector<int> divided(const Links& links, Index k, int tries, Stream& stream);

}  // namespace bnpvi::networks
