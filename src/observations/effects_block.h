// The posterior of the coefficients and the covariance of one cluster, given expected second moments of its
// rows. A model with random effects consists of two such blocks.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "observations/linalg.h"

namespace bnpvi {

/// The prior of a Gaussian regression of D responses y on E regressors z: y = M z + ε, ε ~ N(0, Σ). M | Σ is
/// matrix normal with mean M_0 and column precision V. Σ is known, or Σ⁻¹ ~ W(df, scale⁻¹). If a known Σ is
/// learned, this Wishart distribution is the prior of Σ⁻¹.
struct EffectsPrior {
  Index e, d;
  double df;
  Vec coef;                 // M_0, prior mean of the coefficients, D × E, row-major
  Vec precision;            // V, prior precision over regressors, E × E
  Vec scale;                // B, scale of the Wishart prior, D × D
  Vec known;                // known Σ, D × D; empty: Σ is unknown
  double log_jacobian = 0;  // −Σ log unit, the change of units in the log density of one row
};

/// The posterior q of the coefficients M and the covariance Σ of a cluster's regression (EffectsPrior).
struct EffectsPosterior {
  Vec coef;        // M̂, posterior mean of the coefficients, D × E
  Vec precision;   // V̂, posterior precision over regressors, E × E
  Vec covariance;  // E Σ, D × D; B̂ where that mean does not exist
  double df;       // ν̂, degrees of freedom; ∞ where Σ is known
  Vec scale;       // B̂ = B + Q, with Q the residual squares (EffectsBlock)
};

/// Conjugate inference for the regression of one cluster (EffectsPrior). With v = (z, y) and responsibilities
/// r, the statistic is the count N and the lower triangle of Σ r v vᵀ, packed by rows. If v_0 = 1, N may be
/// the first entry of this triangle. The posterior follows from the matrix
///   P̂ = [V, V M_0ᵀ; M_0 V, B + M_0 V M_0ᵀ] + Σ r v vᵀ,
/// where B is the prior's scale. Its upper left block is V̂. The Schur complement of this block is B̂ = B +
/// Q, with Q the residual squares (see WishartModel). If Σ is known, the log evidence is
///   Λ = −(N/2) log|2πΣ| − ½ tr Σ⁻¹Q + (D/2) log(|V|/|V̂|).
class EffectsBlock {
 public:
  /// Positions of the statistic among the features of the model. count: that of the count N; at: those of the
  /// second moments Σ r v vᵀ, with v = (regressors, responses).
  EffectsBlock(EffectsPrior prior, Index count, std::vector<Index> at);

  const EffectsPrior& prior() const { return prior_; }

  double log_evidence(const double* t) const;
  /// Adds the gradient of the log evidence of a cluster with statistic t to w, at the positions of its count
  /// and second moments among the features, and returns the log evidence.
  double add_weights(const double* t, double* w) const;
  EffectsPosterior posterior(const double* t) const;
  /// The point estimate for a cluster with statistic t: writes the mean statistic of `rows` rows to `mean`,
  /// and adds the natural parameters of the likelihood at the posterior means of coefficients and Σ to w.
  void point_estimate(const double* t, double rows, double* mean, double* w) const;
  /// Draws coefficients and covariance Σ from the posterior of a cluster with statistic t, and adds the
  /// natural parameters of the likelihood at these values to the weights w.
  void draw(const double* t, Stream& stream, double* w) const;

  /// For a known covariance Σ that is learned: best_known() returns the Σ that maximises the sum of log
  /// evidences over k clusters (statistics p numbers apart) plus the log density under an inverse Wishart
  /// prior, whose parameters are those of the Wishart prior of Σ⁻¹. log_hyperprior() is that log density at
  /// the present Σ, in the unit of `scale`.
  Vec best_known(const double* t, Index k, Index p) const;
  double log_hyperprior() const;

  /// The loss of precision that the prior causes (ColumnUnits::strain). The prior stands for a matrix of
  /// second moments. The result is the largest ratio of a diagonal entry of it to the squared pivot of its
  /// Cholesky factor.
  double strain() const;

 private:
  Cholesky factorise(const double* t) const;
  double log_z(double df, double log_det_v, double log_det_b) const;
  double value(const double* t, const Cholesky& chol) const;
  Vec coefficients(const Cholesky& chol) const;  // M̂, computed from the factor of P̂
  Vec scale(const Cholesky& chol) const;         // B̂, computed from the factor of P̂
  void add_likelihood(const Vec& coef, const Vec& root, double log_det, double* w) const;

  EffectsPrior prior_;
  Index m_, count_;
  std::vector<Index> at_;
  Vec joint_, least_pivot_;   // P_0, the prior's part of P̂, and the squared pivots of its factor
  Vec known_root_;            // R with RᵀR = Σ⁻¹, if Σ is known
  double log_det_known_ = 0;  // log|Σ| of the known Σ
  double log_det_v_ = 0, log_z_prior_ = 0;
};

}  // namespace bnpvi
