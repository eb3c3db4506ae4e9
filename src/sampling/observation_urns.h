// Clusters as urns of numbered observations, which are tokens or rows.
#pragma once
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// K clusters, numbered 0 .. K − 1, to which numbered observations are added and from which they are removed.
/// Clusters that began with statistics of earlier observations stay when all observations added later have
/// been removed. An observation of mass m enters the statistic of its cluster with m φ(x).
class ObservationUrns {
 public:
  virtual ~ObservationUrns() = default;

  /// Clears, and begins with k clusters that have the statistics t (k × p) of earlier observations.
  virtual void begin_with(const double* t, Index k) = 0;
  virtual Index k() const = 0;

  virtual void add(Index j, Index i, double mass) = 0;  // adds observation i to cluster j; j = K: a new one
  /// Removes observation i from cluster j. Returns true when the cluster then has no observation left and did
  /// not begin with any; it must be dropped before any other call.
  virtual bool remove(Index j, Index i, double mass) = 0;
  /// Removes the empty cluster j; cluster K − 1 gets its number.
  virtual void drop(Index j) = 0;

  /// out_j = odds_j p(observation i | cluster j) / c for the first odds.size() ≤ K + 1 clusters, K being a
  /// new one; c does not depend on j. Returns log c, without the base measure. Safe to call from several
  /// threads.
  double weigh(Index i, const Vec& odds, double* out) const { return weigh_without(i, -1, 0, odds, out); }
  /// Like weigh(), for an observation that is in cluster `own` with this mass (own = −1: in none): its own
  /// contribution to that cluster is left out.
  virtual double weigh_without(Index i, Index own, double mass, const Vec& odds, double* out) const = 0;

  /// Statistics T of all clusters, K × p: the initial statistics `begun` plus those of observations with
  /// these labels and masses.
  virtual Vec statistics(const Vec& begun, const std::vector<int>& label, const Vec& mass) const = 0;
};

}  // namespace bnpvi
