// Where K is fixed, clusters that go in the same proposal in which new ones come.
#pragma once
#include <utility>

#include "inference/learn/state.h"
#include "inference/moves/changes.h"

namespace bnpvi {

/// Clusters that go: some are dropped, of some pairs (a, b), a < b, the second joins the first. Pairs may
/// have the first in common; nothing goes twice, and no first goes.
struct Room {
  std::vector<Index> dropped;
  std::vector<std::pair<Index, Index>> joined;

  Index size() const { return static_cast<Index>(dropped.size() + joined.size()); }
  /// The clusters that go, ascending.
  std::vector<Index> gone() const;
  /// The changes that make them go, after those given.
  Changes changes(Changes before = {}) const;
  /// The number that cluster j, which stays, has afterwards.
  Index number_of(Index j) const;
};

/// Clusters of less than half an observation, smallest first; nothing is lost without them. None with settled
/// mass is among them, and they are not all clusters of a class, or with a name.
std::vector<Index> idle_clusters(const State& state);

/// Room for m new clusters: idle ones are dropped, then pairs joined, disjoint ones in the given order.
/// Clusters in `kept` are left alone. Fewer than m where there are not so many.
Room room_for(Index m, const State& state, const std::vector<std::pair<Index, Index>>& pairs,
              const std::vector<Index>& kept);

}  // namespace bnpvi
