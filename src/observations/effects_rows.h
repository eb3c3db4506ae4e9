// Models of individuals (groups of rows) whose coefficients differ from those of their cluster. This infers
// these coefficients when a batch is visited.
#pragma once
#include <memory>
#include <vector>

#include "kernels/effects_kernels.h"
#include "observations/missing_pattern.h"

namespace bnpvi {

/// Which regressors have random coefficients. Of the E regressors (intercept first, if any), q are random:
/// their coefficients differ between individuals (groups of rows). The others are fixed: their coefficients
/// are the same for all individuals of a cluster.
struct EffectsShape : EffectsPlaces {
  EffectsShape(Index regressors, std::vector<Index> those);

  std::vector<Index> random, fixed;  // numbers of the random and of the fixed regressors, ascending
};

/// The posterior q(a) = N(m, S) of the q random effects a of each of n individuals (groups of rows) in a
/// cluster with weights w. sums: sums over the rows of each individual, n × EffectsPlaces::sums.
struct EffectsStep {
  EffectsStep(const EffectsShape& shape, Index n, const double* sums, const double* w);

  Vec log_weight;        // log ∫ exp⟨φ(x, a), w⟩ da for each individual
  Vec mean, covariance;  // m (n × q) and S, packed (n × q (q + 1) / 2)
};

/// Predictive log densities of n individuals (groups of rows): log p(all rows of an individual | cluster with
/// statistic t). sums: sums over the rows of each individual; those of the next one begin ld numbers later.
class EffectsPredictive {
 public:
  virtual void predictive(const double* t, const double* sums, Index n, Index ld, double* out) const = 0;

 protected:
  ~EffectsPredictive() = default;
};

/// Makes the MissingPattern of individuals, since their coefficients are unobserved. The data of an
/// individual with n rows are n and, from column `offset` on, the second moments of (regressors, y): sums of
/// products over its rows. If the first regressor is 1, the first of these moments is n.
std::unique_ptr<const MissingPattern> make_effects_pattern(const EffectsShape& shape, Index offset,
                                                           const EffectsPredictive& predictive);

}  // namespace bnpvi
