// Coefficients and a covariance of one cluster, given expected second moments of its rows: each model with
// random effects consists of two of these.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "observations/linalg.h"

namespace bnpvi {

/// Responses y (D) given regressors z (E), y = M z + ε, ε ~ N(0, Σ), M | Σ matrix normal with mean M_0 and
/// column precision V. Σ⁻¹ ~ W(df, scale⁻¹), or Σ is known: then `scale` is that of its prior.
struct EffectsPrior {
  Index e, d;
  double df;
  Vec coef;                 // M_0, D × E, row-major
  Vec precision;            // V, E × E
  Vec scale;                // D × D
  Vec known;                // Σ, D × D; empty: Σ is unknown
  double log_jacobian = 0;  // for one row, −Σ log unit
};

/// The posterior q of a cluster.
struct EffectsPosterior {
  Vec coef;        // M̂, D × E
  Vec precision;   // V̂, E × E
  Vec covariance;  // E Σ, D × D; B̂ where this mean does not exist
  double df;       // ν̂; ∞ where Σ is known
  Vec scale;       // B̂ = B + Q
};

/// The statistic is the count N and Σ r v vᵀ, v = (z, y), whose lower triangle is packed by rows. If
/// v_0 = 1, N may be the first entry of this triangle. With P̂ = [V, V M_0ᵀ; M_0 V, B + M_0 V M_0ᵀ] + Σ r v
/// vᵀ, the Schur complement is B̂ = B + Q, as in WishartModel. If Σ is known,
///   Λ = −(N/2) log|2πΣ| − ½ tr Σ⁻¹Q + (D/2) log(|V|/|V̂|).
class EffectsBlock {
 public:
  /// count, at: positions of N and of the entries of Σ r v vᵀ among the model's features.
  EffectsBlock(EffectsPrior prior, Index count, std::vector<Index> at);

  const EffectsPrior& prior() const { return prior_; }

  double log_evidence(const double* t) const;
  /// Adds ∇Λ to w at these positions and returns Λ.
  double add_weights(const double* t, double* w) const;
  EffectsPosterior posterior(const double* t) const;
  /// Writes the mean statistic of `rows` rows into `mean`, and adds to w the natural weights of the
  /// likelihood at M̂ and E Σ.
  void point_estimate(const double* t, double rows, double* mean, double* w) const;
  /// Adds to w the natural weights of the likelihood at parameters drawn from the posterior.
  void draw(const double* t, Stream& stream, double* w) const;

  /// For a known Σ that is learned: best_known() returns the Σ that maximises the sum of Λ over k clusters
  /// (statistics p numbers apart) plus the log density under an inverse Wishart prior, whose parameters are
  /// those of the Wishart prior of Σ⁻¹. log_hyperprior() is that log density at the present Σ, in the unit
  /// of `scale`.
  Vec best_known(const double* t, Index k, Index p) const;
  double log_hyperprior() const;

  /// The largest ratio of a diagonal entry of P_0 to the squared pivot of its Cholesky factor.
  double strain() const;

 private:
  Cholesky factorise(const double* t) const;
  double log_z(double df, double log_det_v, double log_det_b) const;
  double value(const double* t, const Cholesky& chol) const;
  Vec coefficients(const Cholesky& chol) const;  // M̂, from the factor of P̂
  Vec scale(const Cholesky& chol) const;         // B̂
  void add_likelihood(const Vec& coef, const Vec& root, double log_det, double* w) const;

  EffectsPrior prior_;
  Index m_, count_;
  std::vector<Index> at_;
  Vec joint_, least_pivot_;   // P_0
  Vec known_root_;            // R of RᵀR = Σ⁻¹, Σ known
  double log_det_known_ = 0;  // log|Σ|
  double log_det_v_ = 0, log_z_prior_ = 0;
};

}  // namespace bnpvi
