// Gaussian likelihoods with a matrix-normal–Wishart prior: full covariance, zero mean, autoregressive.
#pragma once
#include "observations/capabilities.h"
#include "observations/gather.h"
#include "observations/hierarchical_gaussian.h"
#include "observations/linalg.h"
#include "observations/outer_features.h"

namespace bnpvi {

/// Prior or posterior of the regression of a response y (D) on regressors z (E): y = M z + ε, ε ~ N(0, Λ⁻¹),
/// Λ ~ W(ν, B⁻¹), in engine units (see Columns). Full Gaussian: z = 1, M = mean, V = κ. Zero mean: no z.
/// Autoregression: z = lags and intercept. Regression: z = intercept and covariates.
struct WishartParameters {
  Index e, d;
  double df;
  Vec coef;       // M, prior mean of the coefficients, D × E, row-major
  Vec precision;  // V, prior precision over regressors, E × E
  Vec scale;      // B, scale of the prior of Λ, D × D
};

/// All these models have one statistic, the second moment of v = (z, y), and one posterior: with the
/// prior's P_0 = [V, V Mᵀ; M V, B + M V Mᵀ], P̂ = P_0 + Σ r v vᵀ has the same form in V̂, M̂, B̂. Its
/// Cholesky factor is [L_V̂, 0; M̂ L_V̂, L_B̂], so log|V̂|, log|B̂|, M̂ and every quadratic form below are
/// read off a single factorisation, without subtracting M̂ V̂ M̂ᵀ:
///   Λ = log Z(ν̂, B̂, V̂) − log Z(ν, B, V) − (ND/2) log 2π − N Σ log unit,
///   log Z = −(ν/2) log|B| + (νD/2) log 2 + log Γ_D(ν/2) − (D/2) log|V|.
///
/// Features: the lower triangle of v vᵀ packed by rows, (i, j) at i(i+1)/2 + j, preceded by a 1 unless
/// v_0 = 1. An off-diagonal entry appears once but stands for two, so its weight is twice the matrix
/// derivative. For rounded responses (Columns) squares are averaged over the cell; models with rounding have
/// no urns, since an urn would need the rows without averaging.
class WishartModel : public ObsModel, public ColumnUnits, public RowEstimates, public Urn {
 public:
  Index n_features() const final { return offset_ + m_ * (m_ + 1) / 2; }
  Index n_columns() const override { return d_; }
  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override;

  /// Loss of precision that the prior causes: the largest ratio of a diagonal entry of P_0 to the squared
  /// pivot of its Cholesky factor. For a Gaussian of one column this is 1 + κ mean² / B.
  double strain() const final;

  /// Transforms Σ r v vᵀ in the statistic t into A (Σ r v vᵀ) Aᵀ, where A is the affine map of v that the
  /// change of columns implies.
  void re_express(const ObsModel& from, double* t) const final;

  double log_evidence(const double* t) const final;
  void weights(const double* t, double* w) const final;
  double evidence_and_weights(const double* t, double* w) const final;

  /// The Gaussian y | z ~ N(M̂ z, E[Σ]), with second moment V̂/N of the regressors (V̂/κ̂ = 1 when z = 1);
  /// E[Σ] = B̂/(ν̂ − D − 1), or B̂ where that is larger than B̂. (B̂/ν̂ would shrink single points' covariances by
  /// 1/D and so let the largest clusters swallow the others in many dimensions.)
  void point_estimate(const double* t, double* mean, double* w) const final;

  /// Where M has at most one column, the mean is obtained without a factorisation, because B̂⁻¹ differs from
  /// B⁻¹ by rank one.
  void row_estimate(const double* phi, double times, double* mean, double* w) const final;

  /// With L the factor of P̂, Z (D × E) of independent standard normals and C (D × D) lower triangular,
  ///   C_ij ~ N(0, 1),  C_ii² ~ χ² with ν̂ − (D − 1 − i) degrees of freedom [Bartlett 1933],
  /// G = [Z, C] L⁻¹ has the law of Λ^½ [−M, I]: C L_B̂⁻¹ is a root of Λ ~ W(ν̂, B̂⁻¹), and given Λ, Λ^½ (M − M̂)
  /// is Z L_V̂⁻¹. So log p(y | z) = ½ log|Λ| − ½ |G v|² + constant, log|Λ| = Σ log C_ii² − log|B̂|.
  void draw(const double* t, Stream& stream, double* w) const final;

  /// Multivariate Student-t: with a = zᵀV̂⁻¹z and e = y − M̂z, Λ(T + φ) − Λ(T) depends on x only through
  /// a and eᵀB̂⁻¹e, because |P̂ + vvᵀ| = |P̂| (1 + |L⁻¹v|²).
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override;

  /// An urn holds, after T: P̂⁻¹ and V̂⁻¹, packed like features with off-diagonal entries doubled, so that
  /// s = vᵀP̂⁻¹v and q = zᵀV̂⁻¹z are products with features; then log|B̂|, the constant of the predictive,
  /// (ν̂ + 1)/2, and the number of rows taken out since fill_urn(). One more row turns the determinants into
  /// |P̂| (1 + s) and |V̂| (1 + q), and the predictive is
  ///   constant − ((ν̂ + 1)/2) log(1 + s) + ((ν̂ + 1 − D)/2) log(1 + q).
  Index urn_size() const final;
  void fill_urn(double* urn) const final;
  void refill_urn(double* urn, const double* phi, double sign) const final;
  void urn_predictives(const double* urns, Index k, const double* phi, double* out) const final;

  Capabilities capabilities() const override;

  /// The expectations under one cluster's posterior from which the prior is updated. The prior's V is a
  /// multiple of `regressors` (HyperpriorOfData).
  ExpectedClusters expected_cluster(const double* t, const Vec& regressors = {1}) const;

  /// Properties of v = (z, y), in this order: its length; the number of its regressors; the position of the
  /// first of its second moments among the features; the unit of a response; and the v of n rows (n × m).
  Index coordinates() const { return m_; }
  Index regressors() const { return e_; }
  Index offset() const { return offset_; }
  double unit_of(Index response) const { return columns_.unit[response - e_]; }
  /// How columns of the data become engine units, the responses first.
  const Columns& columns() const { return columns_; }
  /// For each coordinate, the constant that averaging over the cells of rounded values adds to its square;
  /// empty: no column is rounded.
  const Vec& cells() const { return cell_; }
  void gather_coordinates(const Dataset& data, const Index* rows, Index n, double* v) const {
    gather_rows(data, rows, n, v);
  }

  /// The predictive of rows in which only some coordinates of v are observed, all regressors among them.
  /// With a = zᵀV̂⁻¹z and b = eᵀB̂⁻¹e / (1 + a),
  ///   log predictive = constant − ((df + 1)/2) log(1 + b) − (D/2) log(1 + a).
  struct StudentRows {
    Cholesky chol;
    double df, constant;
    Index regressors, responses;
    Vec cell;

    /// For a row with features phi, writes a, and into `b` the product b (1 + a). φ_0 is `offset` places
    /// before the features of v vᵀ.
    void squares(const double* phi, Index offset, double* scratch, double& a, double& b) const;
  };
  StudentRows student_rows(const double* t) const;
  /// The predictive of rows in which only the coordinates `observed` are known. With o these coordinates and
  /// m the others, Σ_oo under the Wishart posterior has ν̂ − |m| degrees of freedom and scale B̂_oo.
  StudentRows student_rows(const double* t, const std::vector<Index>& observed) const;

  /// log_predictive() of rows in which only the coordinates `observed` of v are known; phi: the features
  /// made of these coordinates.
  void log_marginal_predictive(const double* t, const std::vector<Index>& observed, const double* phi,
                               Index n, Index ld, double* out) const;

 protected:
  /// columns: centre, unit and rounding of the data's columns, the responses y first. one_first: v_0 = 1, so
  /// that the packed features themselves begin with N.
  WishartModel(const WishartParameters& prior, const Columns& columns, bool one_first);

  /// Writes v = (z, y) of n rows, n × m.
  virtual void gather_rows(const Dataset& data, const Index* rows, Index n, double* v) const = 0;

  /// The column of the data that coordinate i of v comes from; −1 when v_i is the constant 1.
  virtual Index column_of(Index i) const = 0;

  /// M̂, V̂, B̂, ν̂ of K clusters with statistics t (K × p), in engine units.
  std::vector<WishartParameters> posterior_parameters(const double* t, Index k) const;

  /// df: ν̂ (K). scale: B̂ in the user's units (D × D × K). covariance: E[Σ] = B̂/(ν̂ − D − 1), likewise;
  /// infinite throughout where ν̂ ≤ D + 1, since that mean does not exist.
  NamedArray df_array(const std::vector<WishartParameters>& q) const;
  NamedArray scale_array(const std::vector<WishartParameters>& q) const;
  NamedArray covariance_array(const std::vector<WishartParameters>& q) const;

  Index responses() const { return d_; }

 private:
  struct UrnParts;
  UrnParts parts_of(double* urn) const;
  void set_urn_constant(const UrnParts& urn, double count) const;  // computed from log|B̂|, V̂⁻¹ and N
  // Recovers v of a row from its features, up to its sign; for rounded rows, without the average over the
  // cell.
  void coordinates_of(const double* phi, double* v) const;
  void prepare_row_estimates(const Cholesky& scale);
  // Do all rows of a cluster have the same 1 + q, q = zᵀV̂⁻¹z?
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
