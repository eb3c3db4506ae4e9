// Where K is fixed, clusters that go in the same proposal in which new ones come.
#pragma once
#include <utility>

#include "inference/learn/state.h"
#include "inference/moves/changes.h"

namespace bnpvi {

/// Clusters to be removed: some are dropped; of pairs (a, b), a < b, b is joined to a. Pairs may have the
/// same a; no cluster is removed twice, and no a of a pair is removed.
struct Room {
  std::vector<Index> dropped;
  std::vector<std::pair<Index, Index>> joined;

  Index size() const { return static_cast<Index>(dropped.size() + joined.size()); }
  /// The clusters to be removed, ascending.
  std::vector<Index> gone() const;
  /// The changes that remove them, after the changes given.
  Changes changes(Changes before = {}) const;
  /// The number that cluster j, which stays, has afterwards.
  Index number_of(Index j) const;
};

/// Clusters of less than half an observation, smallest first; nothing is lost without them. None with settled
/// mass is among them, and they are not all clusters of a class, or with a name.
std::vector<Index> idle_clusters(const State& state);

/// Room for m new clusters: idle clusters are dropped, then disjoint pairs joined, in the given order.
/// Clusters in `kept` are not touched. If there are not enough, fewer than m are removed.
Room room_for(Index m, const State& state, const std::vector<std::pair<Index, Index>>& pairs,
              const std::vector<Index>& kept);

}  // namespace bnpvi
