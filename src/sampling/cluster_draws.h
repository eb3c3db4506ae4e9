// Gibbs sampling of clusters: that of one observation, given those of all others.
#pragma once
#include <limits>

#include "foundation/pool.h"
#include "foundation/random.h"
#include "sampling/observation_urns.h"

namespace bnpvi {

/// Observation x is in cluster j with probability proportional to the prior's odds of it times p(x | those in
/// urn j); parameters of clusters are integrated out [Neal 2000, Algorithm 3]. The odds are what families
/// differ in: they derive from this.
class ClusterDraws {
 public:
  virtual ~ClusterDraws() = default;

  /// Draws the cluster of observation i, which is in no urn yet.
  void place(Index i, std::vector<int>& label, Stream& stream, double mass = 1);
  /// Takes observation i out of its urn, and draws its cluster anew.
  void redraw(Index i, std::vector<int>& label, Stream& stream, double mass = 1);

  /// log p(x | all others) of the observation that was drawn last, base measure left out; odds_of_any: what
  /// the odds summed up to.
  double log_predictive(double odds_of_any) const;

  /// True once a new cluster would have been possible but for `most`.
  bool capped() const { return capped_; }

 protected:
  /// Refers to urns and pool; `most` clusters at most, if no observation needs one when there is none.
  ClusterDraws(ObservationUrns& urns, Pool& pool, Index most = std::numeric_limits<Index>::max())
      : urns_(urns), pool_(pool), most_(most) {}

  /// Odds that the prior has of the K clusters and, last, of a new one, for observation i: K + 1 numbers.
  virtual void find_odds(Index i, Vec& odds) const = 0;
  /// Observation i is about to be added to cluster j (K: a new one), or to be taken out of it.
  virtual void joins(Index /*i*/, Index /*j*/, Stream& /*stream*/) {}
  virtual void leaves(Index /*i*/, Index /*j*/) {}
  /// Cluster j is gone; the last one has its number.
  virtual void dropped(Index /*j*/) {}

 private:
  ObservationUrns& urns_;
  Pool& pool_;
  const Index most_;
  bool capped_ = false;
  Vec odds_, weight_;
  double log_scale_ = 0;  // of the weights
  Index since_poll_ = 0;
};

}  // namespace bnpvi
