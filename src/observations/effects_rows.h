// Individuals whose rows have coefficients of their own around those of their cluster: the local step.
#pragma once
#include <memory>
#include <vector>

#include "kernels/effects_kernels.h"
#include "observations/missing_pattern.h"

namespace bnpvi {

/// Which of E regressors of rows (intercept first, if any) have coefficients of an individual's own, q of
/// them; the other P have the same for all of a cluster.
struct EffectsShape : EffectsPlaces {
  EffectsShape(Index regressors, std::vector<Index> those);

  std::vector<Index> random, fixed;  // regressors, ascending
};

/// q(a) = N(m, S) of n individuals with sums (n × EffectsPlaces::sums) in a cluster with weights w.
struct EffectsStep {
  EffectsStep(const EffectsShape& shape, Index n, const double* sums, const double* w);

  Vec log_weight;        // log ∫ exp⟨φ(x, a), w⟩ da
  Vec mean, covariance;  // n × q, n × q (q + 1) / 2
};

/// log p(rows of an individual | statistic of a cluster) of individuals with sums.
class EffectsPredictive {
 public:
  virtual void predictive(const double* t, const double* sums, Index n, Index ld, double* out) const = 0;

 protected:
  ~EffectsPredictive() = default;
};

/// All individuals, as each hides its coefficients. Their data are n and from column `offset` on the second
/// moments of (regressors, y), the first of which is n where the first regressor is 1.
std::unique_ptr<const MissingPattern> make_effects_pattern(const EffectsShape& shape, Index offset,
                                                           const EffectsPredictive& predictive);

}  // namespace bnpvi
