// A hierarchical prior of the means and covariances of Gaussian clusters, with a posterior of its
// hyperparameters.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "observations/capabilities.h"

namespace bnpvi {

/// Normal–Wishart prior of the mean μ and the precision Λ of clusters of D columns, in engine units (columns
/// centred and scaled, see Columns). The columns form J independent blocks of d columns: J = 1 for full
/// covariances, d = 1 for diagonal ones. In each block Λ ~ W(ν, B⁻¹) and μ | Λ ~ N(m, (κΛ)⁻¹). Spherical
/// clusters have one block with d = 1, whose precision all D columns share. Regressions on E regressors (J =
/// 1) have coefficients A | Λ ~ matrix normal(m, Λ⁻¹, (κV)⁻¹) in place of the mean. A mean is the coefficient
/// of a single regressor 1 with V = 1.
struct NormalWishart {
  Vec mean;             // m, the mean or coefficients, D or D × E; empty: known to be zero
  double strength = 1;  // κ, strength of the mean; unused without means
  double df = 1;        // ν, degrees of freedom of the precisions
  Vec scale;            // B, scale of the precisions, J × d × d
};

/// Sums over the clusters k from which the prior is updated. They sum expectations under the posteriors of
/// the clusters, in part also over blocks of columns. In the posterior of cluster k, E Λ_k = ν̂ B̂⁻¹ is the
/// mean precision, and e_k = m̂_k − m is the distance of its mean from the prior's mean m. V̂_k is the
/// precision of its coefficients, or κ̂_k that of its mean.
struct ExpectedClusters {
  double evidence = 0;     // Σ Λ(T_k), total log evidence
  Vec used;                // number of clusters that have observations in each block, J
  Vec precision;           // Σ E Λ_k, total precision, J × d × d
  Vec weighted_offset;     // Σ E Λ_k e_k, D or D × E; empty without means
  double mean_spread = 0;  // Σ [c tr(V V̂_k⁻¹) + tr(e_kᵀ E Λ_k e_k V)], c: columns of a block
};

/// The sum of expect(t_k) over the clusters that have observations, in their order. t: statistics of K
/// clusters, K × p.
ExpectedClusters sum_over_clusters(const double* t, Index k, Index p, Pool* pool,
                                   const std::function<ExpectedClusters(const double*)>& expect);

/// Which hyperparameters the user gave as numbers. Their posterior is the given value.
struct GivenHyperparameters {
  bool mean = false, strength = false, df = false, scale = false;
};

/// The constants in the priors of the hyperparameters of D columns. They are set from the data, in engine
/// units.
struct HyperpriorOfData {
  Vec location;  // c, D: medians of the columns; D × E; empty: the mean of clusters is known to be zero
  Vec variance;  // v, D: squared spreads of the columns
  Vec floor;     // f, D: diagonal of F; the variance of rounding, or 1e-6 v if that is more
  Index d = 1;   // number of columns of a block's precision
  bool spherical = false;
  GivenHyperparameters given;
  Vec regressors = {1};  // V, precision over regressors, E × E
};

/// The posterior q(H) of the hyperparameters of a HierarchicalGaussian, in engine units. "A point" is a
/// single value without a distribution.
struct HyperPosterior {
  double df = 1;          // ν, a point: degrees of freedom of the clusters' precisions
  double wishart_df = 0;  // a, a point: degrees of freedom of the Wishart prior of a full Ψ; 0: Ψ is diagonal
  Vec shape;              // Ψ̄, the mean of q(Ψ), J × d × d
  Vec shape_df;           // b, degrees of freedom of q(Ψ): one number, or one for each j if Ψ is diagonal
  Vec rate;               // E α_j, d; empty where Ψ is diagonal
  Vec mean;               // m̄, D or D × E; empty without means
  Vec mean_variance;      // S, J × d × d; spherical: D variances
  double strength_shape = 1, strength_rate = 1;  // q(κ) = Gamma(k₁, k₂)
  Vec scale;                                     // B if the user gave it; otherwise empty
};

/// The hierarchical model of the mean μ_k and precision Λ_k of each cluster k:
///   Λ_k | Ψ ~ W(ν, (ν(Ψ + F))⁻¹);   μ_k | Λ_k ~ N(m, (κΛ_k)⁻¹);   m ~ N(c, diag v);   κ ~ Gamma(¼, .025);
///   coefficients: A_k | Λ_k ~ matrix normal(m, Λ_k⁻¹, (κV)⁻¹);   m ~ matrix normal(c, diag v, V⁻¹);
///   ν = d − 1 + e, e ∈ {2⁰, ..., 2¹¹};   Ψ of one of 11 kinds:
///     diagonal: ψ_j ~ Gamma(¼, rate ¼/v_j);
///     full, a − d ∈ {2⁰, ..., 2⁹}: Ψ | α ~ W(a, diag(α)⁻¹), α_j ~ Gamma(g, h_j), g = .2, h_j = .01 g v_j/a.
/// c, v, F and V are the constants of HyperpriorOfData. All values of e have the same prior weight, and so
/// have all kinds of Ψ. In q, e, the kind and the values that the user gave are single values without a
/// distribution. A scale B given by the user is used without F. Full kinds exist only for full covariances of
/// two columns or more.
///
/// q(H) = q(Ψ) q(α) q(m) q(κ). Given q(H), the clusters have the effective prior NW(m̄, κ̄, ν, B*), with B* =
/// ν(Ψ̄ + F) + κ̄ E S, where S is the covariance of each column of m V^½ under q(m). A cluster with
/// observations has the evidence under this prior and a constant (occupied_term). Then
///   Σ_{k with observations} [Λ(T_k) + occupied term] + log_density(q)
/// is a lower bound of the log evidence of all clusters in the hierarchical model. This follows from Jensen's
/// inequality for log(Ψ + F) and Minkowski's for its determinant. Empty clusters contribute nothing: their
/// distribution is the prior given H.
class HierarchicalGaussian {
 public:
  explicit HierarchicalGaussian(HyperpriorOfData data);

  Index blocks() const { return blocks_; }

  NormalWishart effective(const HyperPosterior& q) const;

  /// The constant that a cluster with observations in block j of columns adds to the bound, beside its log
  /// evidence Λ. It is added once for each such block.
  double occupied_term(const HyperPosterior& q, Index j) const;

  /// The hyperparameters' part of the bound, −KL(q(H) ‖ p(H)).
  double log_density(const HyperPosterior& q) const;

  /// Returns q after one round of coordinate ascent: one update of each factor of q that is a distribution.
  HyperPosterior refreshed(const HyperPosterior& q, const ExpectedClusters& e) const;

  /// Computes the sums over clusters under an effective prior (the prior of the clusters given q(H)). A
  /// search by improved() calls it about ten times.
  using Expect = std::function<ExpectedClusters(const NormalWishart&)>;

  /// Improves q by some rounds of refreshed(). If `steps` is a search, also by steps of the degrees of
  /// freedom (e) and of the kind of Ψ to neighbouring values. Returns q itself if the bound does not rise.
  HyperPosterior improved(const HyperPosterior& q, PriorSteps steps, const Expect& expect) const;

 private:
  static constexpr double diagonal_df = 0.5;  // degrees of freedom of each ψ_j under its prior: Gamma(¼, ¼/v)

  struct Point;
  struct Spread;
  enum class GridStep;
  Point at(HyperPosterior q, const Expect& expect) const;
  Point after_rounds(Point from, int rounds, double to_beat, const Expect& expect) const;
  /// q after a step of e (the excess of the degrees of freedom) or of the kind of Ψ to a neighbouring value;
  /// empty if there is no such value.
  std::optional<HyperPosterior> after_step(const HyperPosterior& q, GridStep step, const Vec& used) const;
  void refresh_means(HyperPosterior& q, const ExpectedClusters& e) const;
  void refresh_mean(HyperPosterior& q, Index j, double strength, const ExpectedClusters& e,
                    double& spread) const;
  void refresh_shape(HyperPosterior& q, const ExpectedClusters& e) const;
  void set_shape_df(HyperPosterior& q, const Vec& used) const;
  Spread spread(const HyperPosterior& q, Index j) const;
  double mean_terms(const HyperPosterior& q) const;
  double shape_terms(const HyperPosterior& q) const;
  double rate_h(Index i, double a) const;
  double expected_rate(Index i, double a, double shape) const;
  // Adds `times` · E S to the d × d matrix `to`. S is the variance of the prior mean in block j. If all
  // columns share one precision, S is the sum of the variances of all columns.
  void add_mean_variance(const HyperPosterior& q, Index j, double times, double* to) const;

  HyperpriorOfData data_;
  Vec variance_, floor_;        // v and f; if spherical, their means over columns
  Index d_, blocks_, columns_;  // columns_: of a block
  Index regressors_;            // E, the number of regressors
};

}  // namespace bnpvi
