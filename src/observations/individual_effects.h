// Random coefficients of individuals around those of their cluster, with any covariance or a diagonal one.
#pragma once
#include <vector>

#include "observations/effects_block.h"
#include "observations/effects_rows.h"

namespace bnpvi {

/// The model of a ~ N(μ, D), an individual's q random effects, whose features are at the positions in
/// EffectsPlaces: one EffectsBlock or, if D is diagonal, one block for each effect, whose priors share κ and
/// df.
class IndividualEffects {
 public:
  /// independent: D is diagonal; then only the diagonals of the prior's q × q matrices are read.
  IndividualEffects(EffectsPrior prior, bool independent);

  const EffectsPrior& prior() const { return prior_; }  // prior of all effects together
  double log_evidence(const double* t) const;
  double add_weights(const double* t, double* w) const;
  EffectsPosterior posterior(const double* t) const;  // posterior of all effects together
  /// Writes the mean statistic of one individual into `mean`, and adds to w the natural weights of the
  /// likelihood at the posterior means (EffectsBlock::point_estimate).
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
