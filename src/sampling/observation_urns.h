// Clusters of a sampler, as urns that contain numbered observations (tokens or rows).
#pragma once
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// K clusters, numbered 0 .. K − 1. A sampler adds numbered observations to them and removes these again. An
/// observation with features φ(x) and mass m adds m φ(x) to the statistic of its cluster. A cluster that
/// began with statistics of earlier observations stays even if all observations added later are removed.
class ObservationUrns {
 public:
  virtual ~ObservationUrns() = default;

  /// Removes all clusters, and begins with k clusters that have the statistics t (k × p) of earlier
  /// observations.
  virtual void begin_with(const double* t, Index k) = 0;
  virtual Index k() const = 0;

  virtual void add(Index j, Index i, double mass) = 0;  // adds observation i to cluster j; j = K: a new one
  /// Removes observation i from cluster j. Returns true if the cluster is then empty and did not begin with
  /// earlier observations; the cluster must then be dropped before any other call.
  virtual bool remove(Index j, Index i, double mass) = 0;
  /// Removes the empty cluster j; the last cluster, K − 1, gets its number.
  virtual void drop(Index j) = 0;

  /// Writes out_j = odds_j p(observation i | cluster j) / c for the first odds.size() ≤ K + 1 clusters.
  /// Cluster K is a new one; c does not depend on j. Returns log c, without the base measure. Safe to call
  /// from several threads.
  double weigh(Index i, const Vec& odds, double* out) const { return weigh_without(i, -1, 0, odds, out); }
  /// weigh() for an observation that may already be in a cluster. Its contribution to the statistic of
  /// cluster `own`, with this mass, is left out. own = −1: it is in none.
  virtual double weigh_without(Index i, Index own, double mass, const Vec& odds, double* out) const = 0;

  /// Statistics T of all clusters, K × p: the initial statistics `begun` plus those of the observations with
  /// these labels and masses.
  virtual Vec statistics(const Vec& begun, const std::vector<int>& label, const Vec& mass) const = 0;
};

}  // namespace bnpvi
