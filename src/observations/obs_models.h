// The registered observation models. Each has one factory, which reads the prior in the user's units (for
// its fields see inst/design/glue.md) and throws std::invalid_argument where a field is missing or has the
// wrong length.
#pragma once
#include "foundation/fields.h"
#include "observations/obs_model.h"

namespace bnpvi {

/// ArPrior and GaussianPrior have a centre and a unit for each column: the engine works on (x − centre) /
/// unit, which changes rounding but not the model. Units are powers of two, so that dividing by them is
/// exact.

/// Autoregression: x_t = A z_t + ε_t, z_t = (x_{t−1}, ..., x_{t−lag}, [1]); ε_t ~ N(0, Λ⁻¹); A | Λ ~ matrix
/// normal with mean coef_mean (D × E, column-major), row precision Λ and column precision `precision` (E ×
/// E); Λ ~ W(df, scale⁻¹). `precision` refers to the coefficients of (z − origin), so that it can be given
/// for coordinates near the data where the precision for z itself would lose digits. Without an intercept,
/// centre and origin must be 0, since a shift of the data would need an intercept.
struct ArPrior {
  Index lag;
  bool intercept;
  double df;
  Vec scale;
  Vec coef_mean, precision, origin;
  Vec centre, unit;
  /// Centre, unit and origin of known inputs, whose coefficients stand after the intercept; empty: no
  /// inputs.
  Vec input_centre, input_unit, input_origin;
};

/// Reads a field with one number for each column; the length of this field defines the number of columns.
inline Vec of_columns(const Fields& fields, const char* name) {
  Vec out = fields.numbers(name);
  if (out.empty()) throw std::invalid_argument(std::string("internal error: field ") + name + " is empty");
  return out;
}

/// Does each column have a count of cells of its own? Yes where cells may be missing, or may be 0, which
/// models of positive values treat as missing.
inline bool counts_cells(const Fields& fields) {
  return fields.optional_flag("gaps") || fields.optional_flag("zeros");
}

/// Reads the prior of d columns from its fields; `scale` is the name of the field that holds ArPrior::scale.
/// If there is a field `centred_precision`, it is the precision around the fields `origin` and
/// `input_origin`; otherwise `coef_precision` is used, with origin 0. Known inputs are present if there is a
/// field `input_unit`.
ArPrior ar_prior(const Fields& fields, Index d, Index lag, const char* scale);

/// Gaussian clusters of full covariance and, below, of diagonal covariance. With a field `drift`, the mean
/// takes random steps over time (make_gaussian_drift).
std::unique_ptr<ObsModel> make_gaussian_full(const Fields& fields);
std::unique_ptr<ObsModel> make_gaussian_diagonal(const Fields& fields);
std::unique_ptr<ObsModel> make_gaussian_drift(const Fields& fields, bool full);
std::unique_ptr<ObsModel> make_gaussian_zero_mean(const Fields& fields);
/// Gaussian clusters with one variance for all columns, so that `scale` is one number and all columns have
/// the same unit. The prior is not learned.
std::unique_ptr<ObsModel> make_gaussian_spherical(const Fields& fields);
/// Gaussian clusters that all have the same covariance, either given or learned as the maximiser of Σ_k
/// Λ(T_k).
std::unique_ptr<ObsModel> make_gaussian_tied(const Fields& fields);
std::unique_ptr<ObsModel> make_gaussian_tied_diagonal(const Fields& fields);
std::unique_ptr<ObsModel> make_gaussian_tied_spherical(const Fields& fields);
std::unique_ptr<ObsModel> make_ar(const Fields& fields);
/// An autoregression with lag 1 whose rows are latent, with a distribution q. The columns of the data are
/// E_q φ(x) in engine units, and every T is a sum of these expectations. E_q log
/// p(x | φ_k) = ⟨E_q φ(x), ∇Λ(T)⟩, so that Λ(T) is still the exact optimum over q(φ_k). Its rows are never
/// single points: it serves neither samplers nor densities.
std::unique_ptr<ObsModel> make_expected_ar(const ArPrior& prior);
std::unique_ptr<ObsModel> make_lds(const Fields& fields);
std::unique_ptr<ObsModel> make_regression(const Fields& fields);
/// Counts of terms. The likelihood of a row is that of its tokens in one given order, without a multinomial
/// coefficient.
std::unique_ptr<ObsModel> make_multinomial(const Fields& fields);
std::unique_ptr<ObsModel> make_bernoulli(const Fields& fields);
/// Numbers of successes and of failures, in pairs of columns; the prior has one value for each pair, and is
/// not learned. log_base() throws std::invalid_argument if rows are sparse.
std::unique_ptr<ObsModel> make_binomial(const Fields& fields);
std::unique_ptr<ObsModel> make_poisson(const Fields& fields);
std::unique_ptr<ObsModel> make_censored(const Fields& fields);
/// Values above 0. log_base() throws std::invalid_argument if rows are sparse: zeros are no values of this
/// model.
std::unique_ptr<ObsModel> make_gamma(const Fields& fields);
/// Gamma distributed values with a shape parameter for each cluster and column, which has a Gamma prior; `b`
/// is the rate at shape 1.
std::unique_ptr<ObsModel> make_shaped_gamma(const Fields& fields);
/// Angles in radians, which have a mean direction and a concentration for each cluster and column.
std::unique_ptr<ObsModel> make_von_mises(const Fields& fields);
/// Counts that vary more than Poisson counts, with a size parameter for each cluster and column.
std::unique_ptr<ObsModel> make_negative_binomial(const Fields& fields);
/// Values above 0 with a shape for each cluster and column, out of a few possible shapes. With a field
/// `censored`: times, each with a status, either an event or censored on the right.
std::unique_ptr<ObsModel> make_weibull(const Fields& fields);
/// Adds zeros to a model `positive` of values above 0, whose rows may have gaps and whose last features are
/// counts of cells.
std::unique_ptr<ObsModel> make_zero_cells(std::shared_ptr<const ObsModel> positive);
std::unique_ptr<ObsModel> make_categorical(const Fields& fields);
/// Values whose logarithms are Gaussian; the fields are those of the Gaussian model of the logarithms. The
/// prior is not learned.
std::unique_ptr<ObsModel> make_lognormal_full(const Fields& fields);
std::unique_ptr<ObsModel> make_lognormal_diagonal(const Fields& fields);
/// Student-t rows: Gaussian with a scale for each row, of full and of diagonal covariance. `tails`: the
/// degrees of freedom if known, or shape and rate of their Gamma prior. The prior is not learned.
/// Regressions and autoregressions accept the field `tails`, too.
std::unique_ptr<ObsModel> make_student_full(const Fields& fields);
std::unique_ptr<ObsModel> make_student_diagonal(const Fields& fields);

}  // namespace bnpvi
