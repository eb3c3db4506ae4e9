// Removal of clusters to make room for new ones, in fits with a fixed number of clusters.
#pragma once
#include <utility>

#include "inference/learn/state.h"
#include "inference/moves/changes.h"

namespace bnpvi {

/// Clusters to be removed. dropped: clusters that are deleted. joined: pairs (a, b) with a < b, in which b is
/// joined to a. Several pairs may have the same a. No cluster is removed twice, and no a is removed.
struct Room {
  std::vector<Index> dropped;
  std::vector<std::pair<Index, Index>> joined;

  Index size() const { return static_cast<Index>(dropped.size() + joined.size()); }
  /// The numbers of the clusters to be removed, ascending.
  std::vector<Index> gone() const;
  /// The list of changes `before`, followed by the changes that remove these clusters.
  Changes changes(Changes before = {}) const;
  /// The number that cluster j has after the removal; j must not be one of the removed clusters.
  Index number_of(Index j) const;
};

/// The clusters that can be removed without loss, smallest first. They have less than half an observation, no
/// prior of their own (name), and no mass in the data of an earlier fit (settled_part()). At least one
/// cluster of each class of labelled rows is left out of the list.
std::vector<Index> idle_clusters(const State& state);

/// Chooses clusters to be removed so that there is room for m new ones. Idle clusters (idle_clusters()) come
/// first. Then pairs (a, b) of the list, in its order, are chosen to be joined, unless they share a cluster
/// with pairs already chosen. Clusters in `kept` are not touched. Fewer than m are removed if there are too
/// few candidates.
Room room_for(Index m, const State& state, const std::vector<std::pair<Index, Index>>& pairs,
              const std::vector<Index>& kept);

}  // namespace bnpvi
