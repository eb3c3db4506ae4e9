// Random effects of individuals, distributed around the means of their cluster with a full or a diagonal
// covariance.
#pragma once
#include <vector>

#include "observations/effects_block.h"
#include "observations/effects_rows.h"

namespace bnpvi {

/// The model a ~ N(μ, D) of an individual's q random effects a in a cluster. It consists of one EffectsBlock
/// or, if D is diagonal, of one block for each effect; the priors of these share κ and df. The positions of
/// their features are in EffectsPlaces.
class IndividualEffects {
 public:
  /// independent: D is diagonal. Then only the diagonals of the prior's q × q matrices are read.
  IndividualEffects(EffectsPrior prior, bool independent);

  const EffectsPrior& prior() const { return prior_; }  // prior of all effects together
  double log_evidence(const double* t) const;
  double add_weights(const double* t, double* w) const;
  EffectsPosterior posterior(const double* t) const;  // posterior of all effects together
  /// Writes the mean statistic of one individual into `mean`, and adds to w the natural weights of the
  /// likelihood at the posterior means (as EffectsBlock::point_estimate does for one block).
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
