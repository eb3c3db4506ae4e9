// Gibbs sampling of clusters: draws the cluster of one observation, given the clusters of all others.
#pragma once
#include <limits>

#include "foundation/pool.h"
#include "foundation/random.h"
#include "sampling/observation_urns.h"

namespace bnpvi {

/// Observation x is in cluster j with probability proportional to (prior odds of j) × p(x | observations in
/// urn j); an urn holds the observations of one cluster, and parameters of clusters are integrated out [Neal
/// 2000, Algorithm 3]. Families of models differ in the odds, and derive their own class from this one.
class ClusterDraws {
 public:
  virtual ~ClusterDraws() = default;

  /// Draws the cluster of observation i, which is in no urn yet, and adds it to the urn of that cluster with
  /// this mass.
  void place(Index i, std::vector<int>& label, Stream& stream, double mass = 1);
  /// Takes observation i out of its urn, and draws its cluster anew.
  void redraw(Index i, std::vector<int>& label, Stream& stream, double mass = 1);

  /// log p(x | all others) of the observation that was drawn last, without the base measure. odds_of_any: the
  /// sum of its prior odds over all clusters.
  double log_predictive(double odds_of_any) const;

  /// True once a new cluster had positive odds but was excluded by the limit `most`.
  bool capped() const { return capped_; }

 protected:
  /// Keeps references to urns and pool. At most `most` clusters are opened; an observation for which no
  /// cluster is possible then is an error.
  ClusterDraws(ObservationUrns& urns, Pool& pool, Index most = std::numeric_limits<Index>::max())
      : urns_(urns), pool_(pool), most_(most) {}

  /// The prior odds of the K clusters and, last, of a new one, for observation i: K + 1 numbers.
  virtual void find_odds(Index i, Vec& odds) const = 0;
  /// joins() is called before observation i is added to cluster j (K: a new one), leaves() before it is taken
  /// out.
  virtual void joins(Index /*i*/, Index /*j*/, Stream& /*stream*/) {}
  virtual void leaves(Index /*i*/, Index /*j*/) {}
  /// Called after cluster j was removed; the cluster that had the last number then has the number j.
  virtual void dropped(Index /*j*/) {}

 private:
  ObservationUrns& urns_;
  Pool& pool_;
  const Index most_;
  bool capped_ = false;
  Vec odds_, weight_;
  double log_scale_ = 0;  // logarithm of the factor by which weight_ was divided
  Index since_poll_ = 0;
};

}  // namespace bnpvi
