// The registered observation models: priors in the user's units, and one factory for each.
#pragma once
#include "observations/beta_prior.h"
#include "observations/gaussian_prior.h"
#include "observations/obs_model.h"
#include "observations/term_prior.h"
#include "observations/tied_variance.h"

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
};

/// Regression: y = A z + ε, z = ([1], covariates), in which y (the first `responses` columns of the data) are
/// modelled and the covariates (the others) are known; A and the noise as for an autoregression, coef_mean
/// with the intercept first. precision (E × E) is that of the coefficients of (covariates − origin) / spread,
/// which may be near the data where that of the users' covariates would lose digits. centre and unit: of all
/// columns of the data; without an intercept no column can be centred.
struct RegressionPrior {
  Index responses;
  bool intercept;
  double df;
  Vec scale;
  Vec coef_mean, precision;
  Vec origin, spread;
  Vec centre, unit;
};

/// Counts x_j ~ Poisson(e θ_j) with independent rates θ_j ~ Gamma(a_j, rate b_j). exposed: the last column of
/// the data (which then have one more than a) is the exposure e > 0 of each row; else e = 1. censored: the
/// two columns of the data are a time e > 0 and whether the event came then (1) or had not come yet (0), with
/// likelihood θ^x e^(−θe): that of a count, but a density of the time.
struct PoissonPrior {
  Vec a, b;
  bool exposed = false, censored = false;
  bool gaps = false;  // counts may be missing, exposures not; not of censored times
};

/// Values x_j > 0 from Gamma distributions of known shapes s_j, with independent rates θ_j ~ Gamma(a_j, rate
/// b_j).
struct GammaTimesPrior {
  Vec shape, a, b;
  bool gaps = false;  // cells may be missing
};

/// Columns of levels, coded 1 .. levels_j; any other number is a cell of no level, which says nothing.
/// Independent probabilities ~ Dirichlet(λ_j); weight: λ of all levels of the first column, then the second,
/// ...
/// When `share` (the proportion of each level in its column) is not empty, the weights of column j are
/// learned as even_j + common_j share, as a TermPrior's.
struct CategoricalPrior {
  std::vector<Index> levels;
  Vec weight;
  Vec share;
  Vec even, common;
};

/// A Gaussian of full or diagonal covariance whose mean takes a random step N(0, drift gap_t Σ) between a
/// time and the next, Σ the cluster's covariance; without gaps there is one time. The last column of the data
/// (which then have one more than the prior) is the time of each row, from 1. learn: drift is the value under
/// which Σ Λ is highest.
struct DriftingGaussianPrior {
  GaussianPrior gaussian;  // of the first time; its own learning and gaps in cells are not for it
  bool full;
  double drift;
  Vec gap;
  bool learn;
};

std::unique_ptr<ObsModel> make_gaussian_full(const GaussianPrior& prior);
std::unique_ptr<ObsModel> make_gaussian_diagonal(const GaussianPrior& prior);
std::unique_ptr<ObsModel> make_gaussian_zero_mean(const GaussianPrior& prior);
std::unique_ptr<ObsModel> make_gaussian_drift(const DriftingGaussianPrior& prior);
/// One variance for all columns, the same unit for all of them: `scale` is one number. The prior is not
/// learned.
std::unique_ptr<ObsModel> make_gaussian_spherical(const GaussianPrior& prior);
/// One covariance for all clusters, given or learned as the one under which Σ Λ is highest.
std::unique_ptr<ObsModel> make_gaussian_tied(const TiedPrior& prior);
std::unique_ptr<ObsModel> make_ar(const ArPrior& prior);
/// An autoregression with lag 1 whose rows are not known but have a distribution q: the columns of the data
/// are E_q φ(x) in engine units, and every T is expected. E_q log p(x | φ_k) = ⟨E_q φ(x), ∇Λ(T)⟩, so that
/// Λ(T) is still the exact optimum over q(φ_k). No row is learned from as a point: not for samplers or
/// densities.
std::unique_ptr<ObsModel> make_expected_ar(const ArPrior& prior);
std::unique_ptr<ObsModel> make_regression(const RegressionPrior& prior);
/// A row of counts stands for its tokens in one given order: the likelihood has no multinomial coefficient.
std::unique_ptr<ObsModel> make_multinomial(const TermPrior& prior);
std::unique_ptr<ObsModel> make_bernoulli(const BetaPrior& prior);
/// Numbers of successes and of failures, in pairs of columns of which each has one value of the prior, which
/// is not learned. Throws std::invalid_argument from log_base() if rows are sparse.
std::unique_ptr<ObsModel> make_binomial(const BetaPrior& prior);
std::unique_ptr<ObsModel> make_poisson(const PoissonPrior& prior);
/// Throws std::invalid_argument from log_base() if rows are sparse: zeros are no values of the model.
std::unique_ptr<ObsModel> make_gamma(const GammaTimesPrior& prior);
std::unique_ptr<ObsModel> make_categorical(const CategoricalPrior& prior);

}  // namespace bnpvi
