// Random effects of individuals, distributed around the means of their cluster with a full or a diagonal
// covariance.
#pragma once
#include <vector>

#include "observations/effects_block.h"
#include "observations/effects_rows.h"

namespace bnpvi {

/// The model a ~ N(μ, D) of the q random effects a of an individual in a cluster. It is one EffectsBlock or,
/// if D is diagonal, one block for each effect; these have priors with the same κ and df. EffectsPlaces has
/// the positions of their features.
class IndividualEffects {
 public:
  /// independent: whether D is diagonal. Then only the diagonals of the prior's q × q matrices are used.
  IndividualEffects(EffectsPrior prior, bool independent);

  const EffectsPrior& prior() const { return prior_; }  // prior of all effects together
  double log_evidence(const double* t) const;
  double add_weights(const double* t, double* w) const;
  EffectsPosterior posterior(const double* t) const;  // posterior of all effects together
  /// The point estimate for one individual, as in EffectsBlock::point_estimate(): writes the mean statistic
  /// to `mean`, and adds the natural parameters of the likelihood at the posterior means to w.
  void point_estimate(const double* t, double* mean, double* w) const;
  void draw(const double* t, Stream& stream, double* w) const;
  Vec best_known(const double* t, Index k, Index p) const;
  double log_hyperprior() const;
  double strain() const;

 private:
  Vec diagonal(const std::vector<double>& values) const;

  EffectsPrior prior_;
  std::vector<EffectsBlock> blocks_;
};

}  // namespace bnpvi
