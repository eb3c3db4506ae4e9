// Gibbs sampling of clusters: draws the cluster of one observation, given the clusters of all others.
#pragma once
#include <limits>

#include "foundation/pool.h"
#include "foundation/random.h"
#include "sampling/observation_urns.h"

namespace bnpvi {

/// A collapsed Gibbs sampler [Neal 2000, Algorithm 3], with the parameters of clusters integrated out.
/// Observation x is in cluster j with probability proportional to (prior odds of j) × p(x | other
/// observations of cluster j). An urn is a cluster of the sampler, from which observations are taken and to
/// which they return. Each family of models has its own odds, and derives a class from this one.
class ClusterDraws {
 public:
  virtual ~ClusterDraws() = default;

  /// Draws the cluster of observation i, which is in no urn (cluster of the sampler) yet, and adds it to the
  /// urn of that cluster with this mass (its weight in the sums).
  void place(Index i, std::vector<int>& label, Stream& stream, double mass = 1);
  /// Takes observation i out of its urn (cluster of the sampler), and draws its cluster anew.
  void redraw(Index i, std::vector<int>& label, Stream& stream, double mass = 1);

  /// log p(x | all others) of the observation x that was drawn last, without the base measure. odds_of_any:
  /// the sum of the prior odds of all clusters for x.
  double log_predictive(double odds_of_any) const;

  /// Whether the limit `most` has at some time excluded a new cluster with positive odds.
  bool capped() const { return capped_; }

 protected:
  /// Keeps references to urns and pool, which must outlive this object. At most `most` clusters are opened.
  /// It is an error if no cluster is then possible for an observation.
  ClusterDraws(ObservationUrns& urns, Pool& pool, Index most = std::numeric_limits<Index>::max())
      : urns_(urns), pool_(pool), most_(most) {}

  /// The prior odds of the K clusters and, last, of a new one, for observation i: K + 1 numbers.
  virtual void find_odds(Index i, Vec& odds) const = 0;
  /// Called before observation i is added to cluster j (K: a new one); leaves(): before it is taken out.
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
