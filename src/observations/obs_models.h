// The factories of the observation models, one for each model. A factory reads the prior in the user's units
// from fields (inst/design/glue.md). It throws std::invalid_argument if a field is missing or has the wrong
// length.
#pragma once
#include "foundation/fields.h"
#include "observations/obs_model.h"

namespace bnpvi {

/// The units in priors such as ArPrior and GaussianPrior. Each column has a centre and a unit, and the engine
/// works on (x − centre) / unit. This changes rounding but not the model. Units are powers of two, so
/// dividing by them is exact.

/// The prior of an autoregression of rows x_t of D columns: x_t = A z_t + ε_t with ε_t ~ N(0, Λ⁻¹). The E
/// regressors are z_t = (x_{t−1}, ..., x_{t−lag}, [1]). A | Λ is matrix normal with mean coef_mean (D × E,
/// column-major), row precision Λ and column precision `precision` (E × E). Λ ~ W(df, scale⁻¹).
///
/// `precision` is that of the coefficients of z − origin. With an origin near the data it can be given
/// exactly, while the precision for z itself would lose digits. Without an intercept, centre and origin must
/// be 0, since a shift of the data would need an intercept.
struct ArPrior {
  Index lag;
  bool intercept;
  double df;
  Vec scale;
  Vec coef_mean, precision, origin;
  Vec centre, unit;
  /// Centre, unit and origin of known inputs (covariates); empty if there are none. Their coefficients stand
  /// after the intercept.
  Vec input_centre, input_unit, input_origin;
};

/// Reads a field that must have one number for each column; its length defines the number of columns.
inline Vec of_columns(const Fields& fields, const char* name) {
  Vec out = fields.numbers(name);
  if (out.empty()) throw std::invalid_argument(std::string("internal error: field ") + name + " is empty");
  return out;
}

/// Whether each column needs a count of its observed cells: if cells may be missing, or may be 0 in a model
/// of positive values, which treats 0 as missing.
inline bool counts_cells(const Fields& fields) {
  return fields.optional_flag("gaps") || fields.optional_flag("zeros");
}

/// Reads the prior of an autoregression of d columns from its fields. scale: the name of the field with
/// ArPrior::scale. The column precision is the field `centred_precision`, around the fields `origin` and
/// `input_origin`; without it the field `coef_precision`, with origin 0. There are known inputs if there is a
/// field `input_unit`.
ArPrior ar_prior(const Fields& fields, Index d, Index lag, const char* scale);

/// Makes the model of Gaussian clusters of full covariance; the next function makes that of diagonal
/// covariance. With a field `drift`, the mean takes random steps over time (make_gaussian_drift).
std::unique_ptr<ObsModel> make_gaussian_full(const Fields& fields);
std::unique_ptr<ObsModel> make_gaussian_diagonal(const Fields& fields);
std::unique_ptr<ObsModel> make_gaussian_drift(const Fields& fields, bool full);
std::unique_ptr<ObsModel> make_gaussian_zero_mean(const Fields& fields);
/// Makes the model of Gaussian clusters with one variance for all columns (spherical). The field `scale` is
/// then one number, and all columns have the same unit. The prior is not learned.
std::unique_ptr<ObsModel> make_gaussian_spherical(const Fields& fields);
/// Makes the model of Gaussian clusters that all have the same covariance. It is given, or learned as the
/// value for which the log evidence of all clusters is largest.
std::unique_ptr<ObsModel> make_gaussian_tied(const Fields& fields);
std::unique_ptr<ObsModel> make_gaussian_tied_diagonal(const Fields& fields);
std::unique_ptr<ObsModel> make_gaussian_tied_spherical(const Fields& fields);
std::unique_ptr<ObsModel> make_ar(const Fields& fields);
/// Makes an autoregression with lag 1 for latent rows with a distribution q. The columns of the data are the
/// expected features E_q φ(x) in engine units, and every statistic T is a sum of these. E_q log p(x |
/// parameters) = ⟨E_q φ(x), ∇Λ(T)⟩, with Λ the log evidence of a cluster. So Λ(T) is still the exact optimum
/// over the posterior of the parameters. Samplers and densities need single values of a row, and cannot use
/// this model.
std::unique_ptr<ObsModel> make_expected_ar(const ArPrior& prior);
std::unique_ptr<ObsModel> make_lds(const Fields& fields);
std::unique_ptr<ObsModel> make_regression(const Fields& fields);
/// Makes the model of counts of terms. The likelihood of a row is that of its tokens in one given order, so
/// it has no multinomial coefficient.
std::unique_ptr<ObsModel> make_multinomial(const Fields& fields);
std::unique_ptr<ObsModel> make_bernoulli(const Fields& fields);
/// Makes the model of numbers of successes and of failures, in pairs of columns. The prior has one value for
/// each pair, and is not learned. log_base() throws std::invalid_argument if rows are sparse.
std::unique_ptr<ObsModel> make_binomial(const Fields& fields);
std::unique_ptr<ObsModel> make_poisson(const Fields& fields);
std::unique_ptr<ObsModel> make_censored(const Fields& fields);
/// Makes the model of gamma distributed values above 0 with a known shape. log_base() throws
/// std::invalid_argument if rows are sparse, because zeros are not possible under this model.
std::unique_ptr<ObsModel> make_gamma(const Fields& fields);
/// Makes the model of gamma distributed values with a shape parameter for each cluster and column, which has
/// a Gamma prior. The field `b` is the rate of the prior at shape 1.
std::unique_ptr<ObsModel> make_shaped_gamma(const Fields& fields);
/// Makes the model of angles in radians, with a mean direction and a concentration for each cluster and
/// column.
std::unique_ptr<ObsModel> make_von_mises(const Fields& fields);
/// Makes the model of counts that vary more than Poisson counts, with a size parameter for each cluster and
/// column.
std::unique_ptr<ObsModel> make_negative_binomial(const Fields& fields);
/// Makes the Weibull model of values above 0, with a shape for each cluster and column, out of a few possible
/// shapes. With a field `censored` the values are times, each with a status: an event, or censored on the
/// right.
std::unique_ptr<ObsModel> make_weibull(const Fields& fields);
/// Makes a model of values of which some are exactly 0, from the model `positive` of values above 0. Rows of
/// `positive` may have missing cells, and its last features are counts of cells.
std::unique_ptr<ObsModel> make_zero_cells(std::shared_ptr<const ObsModel> positive);
std::unique_ptr<ObsModel> make_categorical(const Fields& fields);
/// Makes the model of values whose logarithms are Gaussian. The fields are those of the Gaussian model of the
/// logarithms; the prior is not learned.
std::unique_ptr<ObsModel> make_lognormal_full(const Fields& fields);
std::unique_ptr<ObsModel> make_lognormal_diagonal(const Fields& fields);
/// Makes the model of Student-t rows with full covariance: Gaussian rows, each with a scale of its own. The
/// next function is for diagonal covariance. The field `tails` has the degrees of freedom, or shape and rate
/// of their Gamma prior. The prior is not learned. Regressions and autoregressions also accept the field
/// `tails`.
std::unique_ptr<ObsModel> make_student_full(const Fields& fields);
std::unique_ptr<ObsModel> make_student_diagonal(const Fields& fields);

}  // namespace bnpvi
