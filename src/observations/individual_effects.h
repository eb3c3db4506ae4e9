// Coefficients of individuals around those of their cluster, with a covariance or independent of each other.
#pragma once
#include <vector>

#include "observations/effects_block.h"
#include "observations/effects_rows.h"

namespace bnpvi {

/// a ~ N(μ, D) of EffectsPlaces, as one EffectsBlock; or with a diagonal D, as a block for each of the q
/// effects, whose priors have one κ and one df.
class IndividualEffects {
 public:
  /// independent: D is diagonal; of the prior's matrices that are q × q only the diagonals are read.
  IndividualEffects(EffectsPrior prior, bool independent);

  const EffectsPrior& prior() const { return prior_; }  // of all effects
  double log_evidence(const double* t) const;
  double add_weights(const double* t, double* w) const;
  EffectsPosterior posterior(const double* t) const;  // of all effects
  /// Of one individual.
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
