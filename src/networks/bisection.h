// Divides a community into two halves with many links within and few between.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "networks/links.h"

namespace bnpvi::networks {

/// Community `of`, which is to be divided, and the nodes that leave it for a new community, in ascending
/// order.
struct Division {
  Index of;
  std::vector<int> leaves;
};

/// Divides `nodes` into two halves of high modularity [Newman 2006]: the links within halves should exceed
/// what the nodes' degrees among themselves would give at random. Breadth-first search from two random nodes
/// divides the nodes; then nodes change sides as long as that gains. The best of `tries` such local searches
/// is used. Returns the nodes of one half, or none when no division has two halves. Nodes without links to
/// the others are never in this half. `nodes` must be ascending, and so is the result. The time is
/// proportional to the number of the nodes' links.
std::vector<int> bisected(const Links& links, const std::vector<int>& nodes, int tries, Stream& stream);

/// A division of the nodes into more and more groups: again and again, the group with most link ends is
/// divided into two.
class Groups {
 public:
  /// Starts with one group of all nodes. tries: as in bisected().
  Groups(const Links& links, int tries, Stream& stream);

  Index k() const { return static_cast<Index>(groups_.size()); }
  /// Divides one group by bisected(); the nodes that leave it become the last group. `done` receives the
  /// division. Returns false if no group can be divided in this way.
  bool divide(Division& done);
  /// Divides the largest group into two by the order of its nodes, whatever their links.
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

/// Labels of k groups of nodes (Groups); if fewer groups can be found by links, some are cut without regard
/// to links (Groups::cut()). k must be at most the number of nodes.
std::vector<int> divided(const Links& links, Index k, int tries, Stream& stream);

}  // namespace bnpvi::networks
