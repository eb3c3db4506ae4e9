// Removal of clusters to make room for new ones in the same proposal, where K is fixed.
#pragma once
#include <utility>

#include "inference/learn/state.h"
#include "inference/moves/changes.h"

namespace bnpvi {

/// A choice of clusters to be removed: those in `dropped` are dropped; for each pair (a, b), a < b, in
/// `joined`, b is joined to a. Several pairs may have the same a; no cluster is removed twice, and no a of a
/// pair is removed.
struct Room {
  std::vector<Index> dropped;
  std::vector<std::pair<Index, Index>> joined;

  Index size() const { return static_cast<Index>(dropped.size() + joined.size()); }
  /// The clusters to be removed, ascending.
  std::vector<Index> gone() const;
  /// Returns the changes `before`, followed by those that remove these clusters.
  Changes changes(Changes before = {}) const;
  /// The number of cluster j, which is not removed, after the changes.
  Index number_of(Index j) const;
};

/// Clusters with less than half an observation, smallest first, which can be removed without loss. Clusters
/// with mass in settled_part() or with a name are not included, and for each class at least one cluster
/// remains.
std::vector<Index> idle_clusters(const State& state);

/// Makes room for m new clusters: drops idle clusters, then joins disjoint pairs in the given order. Clusters
/// in `kept` are not touched. If there are not enough candidates, fewer than m are removed.
Room room_for(Index m, const State& state, const std::vector<std::pair<Index, Index>>& pairs,
              const std::vector<Index>& kept);

}  // namespace bnpvi
