// The registered observation models: one factory for each, which reads its prior in the user's units (the
// fields: inst/design/glue.md) and throws std::invalid_argument where a field is not there or has another
// length.
#pragma once
#include "foundation/fields.h"
#include "observations/obs_model.h"

namespace bnpvi {

/// centre and unit of each column, here and in GaussianPrior: the engine works on (x − centre) / unit, which
/// changes rounding but not the model. Units are powers of two, so that scaling rounds nothing.

/// Autoregression: x_t = A z_t + ε_t, z_t = (x_{t−1}, ..., x_{t−lag}, [1]); A | Λ ~ matrix normal with mean
/// coef_mean (D × E, column-major), row precision Λ and column precision `precision` (E × E), that of the
/// coefficients of (z − origin), which may so be given near the data where that of z would lose digits;
/// Λ ~ W(df, scale⁻¹). Without an intercept centre and origin must be 0: a shift of the data would need one.
struct ArPrior {
  Index lag;
  bool intercept;
  double df;
  Vec scale;
  Vec coef_mean, precision, origin;
  Vec centre, unit;
  /// Of known inputs, whose coefficients stand after the intercept; empty: there are none.
  Vec input_centre, input_unit, input_origin;
};

/// A number for each column, of which the model learns by this field how many there are.
inline Vec of_columns(const Fields& fields, const char* name) {
  Vec out = fields.numbers(name);
  if (out.empty()) throw std::invalid_argument(std::string("internal error: field ") + name + " is empty");
  return out;
}

/// Does a column count its cells apart from the rows? Where cells may be missing, or are 0, which models of
/// positive values know as missing.
inline bool counts_cells(const Fields& fields) {
  return fields.optional_flag("gaps") || fields.optional_flag("zeros");
}

/// Of d columns, whose `scale` is in the field of that name. Without a `centred_precision`, around `origin`,
/// it has the coef_precision of the users' coordinates. Inputs are there where it has an `input_unit`.
ArPrior ar_prior(const Fields& fields, Index d, Index lag, const char* scale);

/// With a field `drift`, where the mean takes a step from time to time: of full or diagonal covariance.
std::unique_ptr<ObsModel> make_gaussian_full(const Fields& fields);
std::unique_ptr<ObsModel> make_gaussian_diagonal(const Fields& fields);
std::unique_ptr<ObsModel> make_gaussian_drift(const Fields& fields, bool full);
std::unique_ptr<ObsModel> make_gaussian_zero_mean(const Fields& fields);
/// One variance for all columns, the same unit for all of them: `scale` is one number. The prior is not
/// learned.
std::unique_ptr<ObsModel> make_gaussian_spherical(const Fields& fields);
/// One covariance for all clusters, given or learned as the one under which Σ Λ is highest.
std::unique_ptr<ObsModel> make_gaussian_tied(const Fields& fields);
std::unique_ptr<ObsModel> make_gaussian_tied_diagonal(const Fields& fields);
std::unique_ptr<ObsModel> make_gaussian_tied_spherical(const Fields& fields);
std::unique_ptr<ObsModel> make_ar(const Fields& fields);
/// An autoregression with lag 1 whose rows are not known but have a distribution q: the columns of the data
/// are E_q φ(x) in engine units, and every T is expected. E_q log p(x | φ_k) = ⟨E_q φ(x), ∇Λ(T)⟩, so that
/// Λ(T) is still the exact optimum over q(φ_k). No row is learned from as a point: not for samplers or
/// densities.
std::unique_ptr<ObsModel> make_expected_ar(const ArPrior& prior);
std::unique_ptr<ObsModel> make_lds(const Fields& fields);
std::unique_ptr<ObsModel> make_regression(const Fields& fields);
/// A row of counts stands for its tokens in one given order: the likelihood has no multinomial coefficient.
std::unique_ptr<ObsModel> make_multinomial(const Fields& fields);
std::unique_ptr<ObsModel> make_bernoulli(const Fields& fields);
/// Numbers of successes and of failures, in pairs of columns of which each has one value of the prior, which
/// is not learned. Throws std::invalid_argument from log_base() if rows are sparse.
std::unique_ptr<ObsModel> make_binomial(const Fields& fields);
std::unique_ptr<ObsModel> make_poisson(const Fields& fields);
std::unique_ptr<ObsModel> make_censored(const Fields& fields);
/// Throws std::invalid_argument from log_base() if rows are sparse: zeros are no values of the model.
std::unique_ptr<ObsModel> make_gamma(const Fields& fields);
/// The same with a shape for each cluster and column, which has a Gamma prior; `b` is the rate at shape 1.
std::unique_ptr<ObsModel> make_shaped_gamma(const Fields& fields);
/// Angles in radians, with a direction and a concentration for each cluster and column.
std::unique_ptr<ObsModel> make_von_mises(const Fields& fields);
/// Counts of events that vary more than Poisson counts, with a size for each cluster and column.
std::unique_ptr<ObsModel> make_negative_binomial(const Fields& fields);
/// Values above 0 with a shape for each cluster and column, one of a few; or, with a field `censored`, times
/// with a status each, which are events or censored on the right.
std::unique_ptr<ObsModel> make_weibull(const Fields& fields);
/// `positive` where values may be 0: its rows may have gaps, and its last features are the counts of cells.
std::unique_ptr<ObsModel> make_zero_cells(std::shared_ptr<const ObsModel> positive);
std::unique_ptr<ObsModel> make_categorical(const Fields& fields);
/// Values whose logarithms are Gaussian, with the fields of that model of the logarithms. The prior is not
/// learned.
std::unique_ptr<ObsModel> make_lognormal_full(const Fields& fields);
std::unique_ptr<ObsModel> make_lognormal_diagonal(const Fields& fields);
/// Gaussian rows with a scale for each row, t distributions, of full and of diagonal covariance. `tails`:
/// their degrees of freedom, or shape and rate of the Gamma prior of these. The prior is not learned.
/// Regressions and autoregressions have the field, too.
std::unique_ptr<ObsModel> make_student_full(const Fields& fields);
std::unique_ptr<ObsModel> make_student_diagonal(const Fields& fields);

}  // namespace bnpvi
