// Posterior of a cluster's regression coefficients in logistic and negative binomial regression.
#pragma once
#include <vector>

#include "observations/linalg.h"
#include "observations/tangent_rows.h"

namespace bnpvi {

/// The prior b ~ N(M, V⁻¹) of the E regression coefficients b of a cluster, in engine units (columns centred
/// and scaled). In negative binomial regression it is the same for every candidate value of the size s. These
/// values have equal prior probabilities.
struct GlmPrior {
  Vec mean, precision;  // M (E numbers) and V (E × E)
};

/// The posterior q(b) of a cluster's coefficients, and the log evidence Λ_g. In negative binomial regression
/// both are given the candidate value number g of the size s.
struct GlmPosterior {
  double log_evidence = 0;
  Vec mean, covariance;
};

/// The posterior of the coefficients b given the statistic of a cluster. The log likelihood of each row is
/// replaced by a quadratic function of b, its tangent (tangent_rows.h). T_g, the part of the statistic for
/// size number g, has the sums of these quadratics over rows. A row has responsibility r, regressors x,
/// offset o, curvature ω and slope κ. With P = V + Σ rωxx' and h = Σ r(κ − ωo)x − Σ rωxx' M,
///   Λ_g = ½ log|V| − ½ log|P| + ½ h'P⁻¹h + Σ r(κ − ωo)x'M − ½ M' Σ rωxx' M + T_constant,
///   q(b | g) = N(M + P⁻¹h, P⁻¹).
class GlmPosteriors {
 public:
  GlmPosteriors(TangentLayout layout, GlmPrior prior);

  const TangentLayout& layout() const { return layout_; }
  const GlmPrior& prior() const { return prior_; }

  GlmPosterior of(const double* t, Index g, bool with_covariance = true) const;
  std::vector<GlmPosterior> of_sizes(const double* t, bool with_covariance = true) const;
  Vec curved(const double* t, Index g) const;  // (V + curvature)⁻¹, the covariance used for intervals

  // Convert coefficients b and their covariance A from engine units to the user's: to H b and H A H', where H
  // is the matrix of the change of units.
  Vec to_users(const Vec& b) const;
  Vec area_to_users(const Vec& area) const;

 private:
  Vec with_prior(const double* t) const;

  TangentLayout layout_;
  GlmPrior prior_;
  Cholesky root_;  // Cholesky factor of V
  Vec pivots_;
};

double log_mean_evidence(const std::vector<GlmPosterior>& sizes);  // log of the mean of exp(Λ_g)
Vec shares_of_sizes(const std::vector<GlmPosterior>& sizes);  // q_g, the posterior probabilities of the sizes
Vec average_mean(const std::vector<GlmPosterior>& sizes, const Vec& share);

}  // namespace bnpvi
