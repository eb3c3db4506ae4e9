// Two halves of a community that have many links within and few between.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "networks/links.h"

namespace bnpvi::networks {

/// A community to be divided, and the nodes that leave it, in ascending order.
struct Division {
  Index of;
  std::vector<int> leaves;
};

/// Divides `nodes` in two so that the links among them that stay within a half exceed, as far as a local
/// search finds, what their degrees among themselves would give at random (modularity [Newman 2006]): from
/// two random seeds, between which breadth-first search shares the nodes out, nodes change sides as long as
/// that gains. The best of `tries`. Returns the nodes of one half; none when no division has two halves.
/// Nodes without links among the others are never of it. `nodes` are in ascending order, and so is what is
/// returned; costs what their links do.
std::vector<int> bisected(const Links& links, const std::vector<int>& nodes, int tries, Stream& stream);

/// Groups of nodes that grow in number: the one with most link ends is divided in two, again and again.
class Groups {
 public:
  /// One group of all nodes.
  Groups(const Links& links, int tries, Stream& stream);

  Index k() const { return static_cast<Index>(groups_.size()); }
  /// Divides a group; the nodes that leave are the last group then. false: no group has two halves.
  bool divide(Division& done);
  /// The same of the largest group by the order of its nodes, whatever their links.
  void cut();
  std::vector<int> labels() const;  // from 0

 private:
  struct Group {
    std::vector<int> nodes, half;  // half: empty when there are no two
    double ends;
  };
  Group made(std::vector<int> nodes) const;
  void part(std::size_t of, const std::vector<int>& leaves);

  const Links* links_;
  int tries_;
  Stream* stream_;
  std::vector<Group> groups_;
};

/// Labels of k groups; where none has two halves, some are cut. k must be at most the number of nodes.
std::vector<int> divided(const Links& links, Index k, int tries, Stream& stream);

}  // namespace bnpvi::networks
