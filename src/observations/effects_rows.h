// Individuals whose rows have coefficients of their own, distributed around those of their cluster: the
// local step.
#pragma once
#include <memory>
#include <vector>

#include "kernels/effects_kernels.h"
#include "observations/missing_pattern.h"

namespace bnpvi {

/// Splits the E regressors of rows (intercept first, if any) into q random ones, whose coefficients differ
/// between individuals, and P fixed ones, whose coefficients are the same in all of a cluster.
struct EffectsShape : EffectsPlaces {
  EffectsShape(Index regressors, std::vector<Index> those);

  std::vector<Index> random, fixed;  // numbers of the regressors, ascending
};

/// q(a) = N(m, S) of the random effects of n individuals in a cluster with weights w. sums:
/// n × EffectsPlaces::sums.
struct EffectsStep {
  EffectsStep(const EffectsShape& shape, Index n, const double* sums, const double* w);

  Vec log_weight;        // log ∫ exp⟨φ(x, a), w⟩ da
  Vec mean, covariance;  // n × q, n × q (q + 1) / 2
};

/// log p(rows of an individual | statistic t of a cluster), for n individuals with the given sums.
class EffectsPredictive {
 public:
  virtual void predictive(const double* t, const double* sums, Index n, Index ld, double* out) const = 0;

 protected:
  ~EffectsPredictive() = default;
};

/// The pattern of all individuals, since each hides its coefficients. The data of an individual are n and,
/// from column `offset` on, the second moments of (regressors, y). If the first regressor is 1, the first of
/// these moments is n.
std::unique_ptr<const MissingPattern> make_effects_pattern(const EffectsShape& shape, Index offset,
                                                           const EffectsPredictive& predictive);

}  // namespace bnpvi
