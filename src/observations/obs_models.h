// The registered observation models: priors in the user's units, and one factory for each.
#pragma once
#include "observations/beta_prior.h"
#include "observations/gaussian_prior.h"
#include "observations/obs_model.h"
#include "observations/term_prior.h"

namespace bnpvi {

/// centre and unit of each column, here and in GaussianPrior: the engine works on (x − centre) / unit, which
/// changes rounding but not the model. Units are powers of two, so that scaling rounds nothing.

/// Autoregression: x_t = A z_t + ε_t, z_t = (x_{t−1}, ..., x_{t−lag}, [1]); A | Λ ~ matrix normal with mean
/// coef_mean (D × E, column-major), row precision Λ and column precision coef_precision (E × E); Λ ~ W(df,
/// scale⁻¹). Without an intercept centre must be zero, as a shift of the data would need one.
struct ArPrior {
  Index lag;
  bool intercept;
  double df;
  Vec scale;
  Vec coef_mean, coef_precision;
  Vec centre, unit;
};

/// Counts x_j ~ Poisson(e θ_j) with independent rates θ_j ~ Gamma(a_j, rate b_j). exposed: the last column of
/// the data (which then have one more than a) is the exposure e > 0 of each row; else e = 1.
struct PoissonPrior {
  Vec a, b;
  bool exposed;
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

std::unique_ptr<ObsModel> make_gaussian_full(const GaussianPrior& prior);
std::unique_ptr<ObsModel> make_gaussian_diagonal(const GaussianPrior& prior);
std::unique_ptr<ObsModel> make_gaussian_zero_mean(const GaussianPrior& prior);
std::unique_ptr<ObsModel> make_ar(const ArPrior& prior);
/// A row of counts stands for its tokens in one given order: the likelihood has no multinomial coefficient.
std::unique_ptr<ObsModel> make_multinomial(const TermPrior& prior);
std::unique_ptr<ObsModel> make_bernoulli(const BetaPrior& prior);
std::unique_ptr<ObsModel> make_poisson(const PoissonPrior& prior);
std::unique_ptr<ObsModel> make_categorical(const CategoricalPrior& prior);

}  // namespace bnpvi
