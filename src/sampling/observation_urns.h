// Clusters as urns of numbered observations: tokens, or rows.
#pragma once
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// K clusters, numbered 0 .. K − 1, while observations, numbered as well, come and go. Clusters that began
/// with earlier observations stay when their own have left. An observation of mass m is in its cluster with
/// the statistic m φ(x).
class ObservationUrns {
 public:
  virtual ~ObservationUrns() = default;

  /// Clears, and begins with k clusters that have the statistics t (k × p) of earlier observations.
  virtual void begin_with(const double* t, Index k) = 0;
  virtual Index k() const = 0;

  virtual void add(Index j, Index i, double mass) = 0;  // j ≤ K: observation i to cluster j, K a new one
  /// True when cluster j has no observation left and did not begin with any; it must be dropped then, before
  /// anything else.
  virtual bool remove(Index j, Index i, double mass) = 0;
  /// Cluster K − 1 gets the number j.
  virtual void drop(Index j) = 0;

  /// odds_j p(observation i | cluster j) / c of the first odds.size() ≤ K + 1 clusters, K being a new one; c
  /// does not depend on j. Returns log c, base measure left out. Safe in threads.
  double weigh(Index i, const Vec& odds, double* out) const { return weigh_without(i, -1, 0, odds, out); }
  /// The same, cluster `own` (−1: none) having the observation with this mass: without it there.
  virtual double weigh_without(Index i, Index own, double mass, const Vec& odds, double* out) const = 0;

  /// T of all clusters, K × p, which began with these statistics, observations having these labels and
  /// masses.
  virtual Vec statistics(const Vec& begun, const std::vector<int>& label, const Vec& mass) const = 0;
};

}  // namespace bnpvi
