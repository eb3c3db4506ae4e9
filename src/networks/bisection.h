// Divides a community into two halves with many links within and few between.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "networks/links.h"

namespace bnpvi::networks {

/// A community to be divided, `of`, and the nodes that leave it, in ascending order.
struct Division {
  Index of;
  std::vector<int> leaves;
};

/// Divides `nodes` in two halves of high modularity [Newman 2006]: the links within halves should exceed what
/// the nodes' degrees among themselves would give at random. Breadth-first search from two random seeds
/// divides the nodes; then nodes change sides as long as that gains. The best of `tries` such local searches
/// is kept. Returns the nodes of one half, or none when no division has two halves. Nodes without links to
/// the others are never in it. `nodes` must be in ascending order, and so is the result. Time is proportional
/// to the nodes' links.
std::vector<int> bisected(const Links& links, const std::vector<int>& nodes, int tries, Stream& stream);

/// Groups of nodes, whose number grows: the group with most link ends is divided in two, again and again.
class Groups {
 public:
  /// One group of all nodes.
  Groups(const Links& links, int tries, Stream& stream);

  Index k() const { return static_cast<Index>(groups_.size()); }
  /// Divides one group; the nodes that leave it become the last group. `done` receives the division. Returns
  /// false if no group can be divided in two halves.
  bool divide(Division& done);
  /// Divides the largest group in two by the order of its nodes, whatever their links.
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

/// Labels of k groups; where no group has two halves, some are cut (Groups::cut()). k must be at most the
/// number of nodes.
std::vector<int> divided(const Links& links, Index k, int tries, Stream& stream);

}  // namespace bnpvi::networks
