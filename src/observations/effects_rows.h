// Individuals whose rows have coefficients of their own around those of their cluster: the local step.
#pragma once
#include <memory>
#include <vector>

#include "observations/missing_pattern.h"

namespace bnpvi {

/// Which of E regressors of rows (intercept first, if any) have coefficients of an individual's own, q of
/// them; the other P have the same for all of a cluster.
struct EffectsShape {
  static constexpr Index most = 8;  // q at most

  EffectsShape(Index regressors, std::vector<Index> random);

  Index q() const { return static_cast<Index>(random.size()); }
  Index p() const { return static_cast<Index>(fixed.size()); }

  // Features: the count and second moments of (1, a), the first of these being the count; then the number of
  // rows and the second moments of (x, y − z'a); the entropy of q(a).
  Index effects() const { return 0; }
  Index rows() const { return (q() + 1) * (q() + 2) / 2; }
  Index moments() const { return rows() + 1; }
  Index entropy() const { return moments() + (p() + 1) * (p() + 2) / 2; }
  Index size() const { return entropy() + 1; }

  std::vector<Index> random, fixed;  // regressors, ascending
};

/// The sums of an individual's rows as the local step reads them, in this order: 1, n, Z'Z (packed), Z'X (q ×
/// P), Z'y, and the second moments of (x, y).
struct EffectsSums {
  explicit EffectsSums(const EffectsShape& shape)
      : zz(2),
        zx(zz + shape.q() * (shape.q() + 1) / 2),
        zy(zx + shape.q() * shape.p()),
        moments(zy + shape.q()),
        size(moments + (shape.p() + 1) * (shape.p() + 2) / 2) {}

  Index zz, zx, zy, moments, size;
};

/// q(a) = N(m, S) of an individual in a cluster with weights w, the best for these:
///   S = (τ Z'Z + W)⁻¹, h = τ Z'(y − X b) + W μ, m = S h, τ = −2 w_yy, W = −2 w_aa, W μ = w_a, τ b = w_xy.
class EffectsStep {
 public:
  explicit EffectsStep(const EffectsShape& shape) : shape_(shape), at_(shape) {}

  /// sums: of the individual; w: of the cluster. After it S, m and the log weight are there.
  void run(const double* sums, const double* w);

  double log_weight() const { return log_weight_; }  // log ∫ exp⟨φ(x, a), w⟩ da
  const double* mean() const { return mean_; }       // m
  double covariance(Index i, Index j) const { return covariance_[i * EffectsShape::most + j]; }
  void find_covariance();  // after run()
  /// t += r E φ, after find_covariance().
  void add(const double* sums, double r, double* t) const;

 private:
  const EffectsShape& shape_;
  EffectsSums at_;
  double factor_[EffectsShape::most * EffectsShape::most];  // L of S⁻¹ = L Lᵀ
  double covariance_[EffectsShape::most * EffectsShape::most];
  double mean_[EffectsShape::most];
  double log_det_ = 0, log_weight_ = 0;  // log|S|
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
