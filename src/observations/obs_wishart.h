// Gaussian models with a matrix-normal–Wishart prior: full covariance, zero mean, regression, autoregression.
#pragma once
#include "observations/capabilities.h"
#include "observations/gather.h"
#include "observations/hierarchical_gaussian.h"
#include "observations/linalg.h"
#include "observations/outer_features.h"

namespace bnpvi {

/// The parameters (of a prior or a posterior) of a regression of a response y (D numbers) on regressors z (E
/// numbers), in engine units (see Columns): y = M z + ε, ε ~ N(0, Λ⁻¹). M are the coefficients, and V is
/// their precision over regressors. The precision of the noise is Λ ~ W(ν, B⁻¹), a Wishart distribution.
/// Regressors z: the constant 1 for Gaussians with full covariance, where M is the mean and V = κ; none for
/// zero mean; lags and intercept for autoregressions; intercept and covariates for regressions.
struct WishartParameters {
  Index e, d;
  double df;
  Vec coef;       // M, prior mean of the coefficients, D × E, row-major
  Vec precision;  // V, prior precision over regressors, E × E
  Vec scale;      // B, scale of the prior of Λ, D × D
};

/// Base class of all Gaussian models whose cluster is a linear regression of y on z (WishartParameters).
/// Their statistic is the second moment of v = (z, y). The prior stands for the matrix P_0 = [V, V Mᵀ; M V, B
/// + M V Mᵀ]. With responsibilities r, the posterior matrix P̂ = P_0 + Σ r v vᵀ has the same form with V̂,
/// M̂, B̂. Its Cholesky factor is [L_V̂, 0; M̂ L_V̂, L_B̂]. So log|V̂|, log|B̂|, M̂ and every quadratic form
/// below follow from one factorisation, without subtracting M̂ V̂ M̂ᵀ. The log evidence of a cluster is
///   Λ(T) = log Z(ν̂, B̂, V̂) − log Z(ν, B, V) − (ND/2) log 2π − N Σ log unit,
///   log Z = −(ν/2) log|B| + (νD/2) log 2 + log Γ_D(ν/2) − (D/2) log|V|.
///
/// Features: the lower triangle of v vᵀ packed by rows, with entry (i, j) at i(i+1)/2 + j. A 1 precedes them
/// unless v_0 = 1. An off-diagonal entry appears once but stands for two, so its weight is twice the matrix
/// derivative. For rounded responses (Columns) squares are averaged over the interval of values that are
/// rounded to the same number. Models with rounding have no urns (clusters of a sampler), which would need
/// the rows without averaging.
class WishartModel : public ObsModel, public ColumnUnits, public RowEstimates, public Urn {
 public:
  Index n_features() const final { return offset_ + m_ * (m_ + 1) / 2; }
  Index n_columns() const override { return d_; }
  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override;

  /// The loss of precision that the prior causes: the largest ratio of a diagonal entry of P_0, the prior's
  /// second moments, to the squared pivot of its Cholesky factor. For a Gaussian of one column it is 1 + κ
  /// mean² / B.
  double strain() const final;

  /// Converts a statistic t from the units of the model `from` to those of this model. The change of units is
  /// an affine map A of v = (z, y), which turns the second moments Σ r v vᵀ into A (Σ r v vᵀ) Aᵀ.
  void re_express(const ObsModel& from, double* t) const final;

  double log_evidence(const double* t) const final;
  void weights(const double* t, double* w) const final;
  double evidence_and_weights(const double* t, double* w) const final;

  /// Point estimate of a cluster of N rows, with posterior parameters M̂, V̂, B̂, ν̂ (WishartParameters): the
  /// Gaussian y | z ~ N(M̂ z, E[Σ]), with second moment V̂/N of the regressors (V̂/κ̂ = 1 when z = 1). E[Σ] =
  /// B̂/(ν̂ − D − 1), or B̂ where E[Σ] would be larger than B̂. (The alternative B̂/ν̂ would shrink single
  /// points' covariances by 1/D, and in many dimensions the largest clusters would then take over the
  /// others.)
  void point_estimate(const double* t, double* mean, double* w) const final;

  /// Point estimate of a cluster of a single row with features phi that counts `times` times. Where there is
  /// at most one regressor, the mean is obtained without a factorisation, because one row changes the scale B
  /// of the prior by a matrix of rank one.
  void row_estimate(const double* phi, double times, double* mean, double* w) const final;

  /// Draws the parameters of a cluster: coefficients M and noise precision Λ. Let L be the Cholesky factor of
  /// the posterior matrix P̂ (see the class), Z (D × E) a matrix of independent standard normals and C (D ×
  /// D) lower triangular. With
  ///   C_ij ~ N(0, 1),  C_ii² ~ χ² with ν̂ − (D − 1 − i) degrees of freedom [Bartlett 1933],
  /// the matrix G = [Z, C] L⁻¹ has the law of Λ^½ [−M, I]: C L_B̂⁻¹ is a root of Λ ~ W(ν̂, B̂⁻¹), and given
  /// Λ, Λ^½ (M − M̂) is Z L_V̂⁻¹. So log p(y | z) = ½ log|Λ| − ½ |G v|² + constant, with log|Λ| = Σ log C_ii²
  /// − log|B̂|.
  void draw(const double* t, Stream& stream, double* w) const final;

  /// Log predictive density of rows, a multivariate Student-t: Λ(T + φ) − Λ(T). Hats mark the posterior given
  /// T (see the class). Since |P̂ + vvᵀ| = |P̂| (1 + |L⁻¹v|²), it depends on a row v = (z, y) only through a
  /// = zᵀV̂⁻¹z and eᵀB̂⁻¹e, with the residual e = y − M̂z.
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override;

  /// Size of an urn (a cluster of a sampler, which rows leave and join). After the statistic T an urn has:
  /// the inverses of the posterior matrices P̂ and V̂ (see the class), packed like features with off-diagonal
  /// entries doubled; log|B̂|; the constant of the predictive; (ν̂ + 1)/2; and the number of rows taken out
  /// since fill_urn(). So s = vᵀP̂⁻¹v and q = zᵀV̂⁻¹z are products with features. One more row turns the
  /// determinants into |P̂| (1 + s) and |V̂| (1 + q). Its log predictive density is
  ///   constant − ((ν̂ + 1)/2) log(1 + s) + ((ν̂ + 1 − D)/2) log(1 + q).
  Index urn_size() const final;
  void fill_urn(double* urn) const final;
  void refill_urn(double* urn, const double* phi, double sign) const final;
  void urn_predictives(const double* urns, Index k, const double* phi, double* out) const final;

  Capabilities capabilities() const override;

  /// The expectations under the posterior of one cluster from which the prior is updated. regressors: a
  /// matrix of which the prior's precision V over regressors is a multiple (HyperpriorOfData).
  ExpectedClusters expected_cluster(const double* t, const Vec& regressors = {1}) const;

  /// The length of v = (z, y). The next functions return the number of regressors z; the position of the
  /// first second moment of v among the features; the unit of a response; and v for n rows (n × m).
  Index coordinates() const { return m_; }
  Index regressors() const { return e_; }
  Index offset() const { return offset_; }
  double unit_of(Index response) const { return columns_.unit[response - e_]; }
  /// How columns of the data become engine units, the responses first.
  const Columns& columns() const { return columns_; }
  /// For each coordinate of v = (z, y), the constant that is added to its square for rounding: it averages
  /// over the interval of values that are rounded to the same number. Empty if no column is rounded.
  const Vec& cells() const { return cell_; }
  void gather_coordinates(const Dataset& data, const Index* rows, Index n, double* v) const {
    gather_rows(data, rows, n, v);
  }

  /// The predictive density of rows in which only some coordinates of v = (z, y) are observed, among them all
  /// regressors z. With a = zᵀV̂⁻¹z, e = y − M̂z and b = eᵀB̂⁻¹e / (1 + a),
  ///   log predictive = constant − ((df + 1)/2) log(1 + b) − (D/2) log(1 + a).
  struct StudentRows {
    Cholesky chol;
    double df, constant;
    Index regressors, responses;
    Vec cell;

    /// Computes two quadratic forms of a row with features phi: a = zᵀV̂⁻¹z of its regressors, and b =
    /// eᵀB̂⁻¹e of its residuals e. offset: number of features from φ_0 to the first feature of v vᵀ.
    void squares(const double* phi, Index offset, double* scratch, double& a, double& b) const;
  };
  StudentRows student_rows(const double* t) const;
  /// The predictive density of rows in which only the coordinates `observed` of v = (z, y) are known. With o
  /// these coordinates and m the others, the Wishart posterior of Σ_oo has ν̂ − |m| degrees of freedom and
  /// scale B̂_oo.
  StudentRows student_rows(const double* t, const std::vector<Index>& observed) const;

  /// Log predictive density of rows in which only the coordinates `observed` of v = (z, y) are known. phi:
  /// the features made of these coordinates.
  void log_marginal_predictive(const double* t, const std::vector<Index>& observed, const double* phi,
                               Index n, Index ld, double* out) const;

 protected:
  /// columns: centre, unit and rounding of the columns of the data, the responses y first. one_first: whether
  /// the first coordinate of v = (z, y) is the constant 1. Then the packed features begin with N.
  WishartModel(const WishartParameters& prior, const Columns& columns, bool one_first);

  /// Writes the vectors v = (z, y) of regressors and responses of n rows: n × m.
  virtual void gather_rows(const Dataset& data, const Index* rows, Index n, double* v) const = 0;

  /// The column of the data that coordinate i of v = (z, y) comes from; −1 when it is the constant 1.
  virtual Index column_of(Index i) const = 0;

  /// The posterior parameters M̂, V̂, B̂, ν̂ of K clusters with statistics t (K × p), in engine units.
  std::vector<WishartParameters> posterior_parameters(const double* t, Index k) const;

  /// The posterior degrees of freedom ν̂ of K clusters. The next functions return the scale B̂ in the user's
  /// units (D × D × K), and the mean covariance E[Σ] = B̂/(ν̂ − D − 1) (D × D × K; infinite throughout where
  /// ν̂ ≤ D + 1, since this mean does not exist).
  NamedArray df_array(const std::vector<WishartParameters>& q) const;
  NamedArray scale_array(const std::vector<WishartParameters>& q) const;
  NamedArray covariance_array(const std::vector<WishartParameters>& q) const;

  Index responses() const { return d_; }

 private:
  struct UrnParts;
  UrnParts parts_of(double* urn) const;
  void set_urn_constant(const UrnParts& urn, double count) const;  // computed from log|B̂|, V̂⁻¹ and N
  // Recovers v = (z, y) of a row from its features, up to its sign. In rounded rows without what averaging
  // over rounded values has added.
  void coordinates_of(const double* phi, double* v) const;
  void prepare_row_estimates(const Cholesky& scale);
  // Whether all rows of a cluster have the same value of 1 + q, with q = zᵀV̂⁻¹z the quadratic form of the
  // regressors.
  bool constant_regressors() const { return e_ == 0 || (e_ == 1 && offset_ == 0); }

  StudentRows student_rows(Cholesky chol, double df, double constant, Vec cell) const;
  void log_student(const StudentRows& rows, const double* phi, Index n, Index ld, double* out) const;
  Cholesky factorise(const double* t) const;
  double log_evidence(const double* t, const Cholesky& chol) const;
  void weights(const double* t, const Cholesky& chol, double* w) const;
  Vec coefficients(const Cholesky& chol,
                   const Vec& inverse) const;  // M̂, computed from the factor of P̂ and its inverse
  WishartParameters posterior_parameters(const double* t) const;
  double log_z(double df, double log_det_v, double log_det_b) const;
  double row_constant() const { return row_constant_; }
  void subtract_quadratic(const Cholesky& chol, double regressor, double response, double* w) const;

  Index e_, d_, m_, offset_;
  double df_, log_z_prior_ = 0;
  Columns columns_;
  Vec cell_;
  double row_constant_ = 0;  // −(D/2) log 2π − Σ log unit, for each row
  WishartParameters given_;
  double log_det_scale_ = 0;  // log|B| of the prior
  Vec inverse_scale_;         // B⁻¹, D × D; empty where row_estimate() does not need it
  Vec prior_;                 // P_0, the prior's part of P̂, m × m
  Vec least_pivot_;           // squared diagonal of the Cholesky factor of P_0
};

}  // namespace bnpvi
