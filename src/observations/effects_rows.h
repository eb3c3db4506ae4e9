// Individuals whose rows have coefficients of their own, distributed around those of their cluster: how a
// visit infers these coefficients under the clusters.
#pragma once
#include <memory>
#include <vector>

#include "kernels/effects_kernels.h"
#include "observations/missing_pattern.h"

namespace bnpvi {

/// Which regressors have random coefficients. Of the E regressors of rows (intercept first, if any), q are
/// random: their coefficients differ between individuals. P are fixed: their coefficients are the same in all
/// of a cluster.
struct EffectsShape : EffectsPlaces {
  EffectsShape(Index regressors, std::vector<Index> those);

  std::vector<Index> random, fixed;  // numbers of the random and of the fixed regressors, ascending
};

/// q(a) = N(m, S), the distribution of the q random effects a of each of n individuals in a cluster with
/// weights w. sums: what the data hold of the individuals' rows, n × EffectsPlaces::sums.
struct EffectsStep {
  EffectsStep(const EffectsShape& shape, Index n, const double* sums, const double* w);

  Vec log_weight;        // log ∫ exp⟨φ(x, a), w⟩ da for each individual
  Vec mean, covariance;  // m (n × q) and S, packed (n × q (q + 1) / 2)
};

/// Predictive log densities: log p(all rows of an individual | statistic t of a cluster), for n individuals
/// with the given sums.
class EffectsPredictive {
 public:
  virtual void predictive(const double* t, const double* sums, Index n, Index ld, double* out) const = 0;

 protected:
  ~EffectsPredictive() = default;
};

/// The MissingPattern of all individuals, which all hide their coefficients. The data of an individual with n
/// rows are n and, from column `offset` on, the second moments of (regressors, y), the sums of products over
/// its rows. If the first regressor is 1, the first of these moments is n.
std::unique_ptr<const MissingPattern> make_effects_pattern(const EffectsShape& shape, Index offset,
                                                           const EffectsPredictive& predictive);

}  // namespace bnpvi
