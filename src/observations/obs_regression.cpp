#include <algorithm>
#include <stdexcept>
#include <utility>

#include "observations/coefficient_model.h"
#include "observations/obs_models.h"
#include "observations/random_effects.h"
#include "observations/regressors.h"
#include "observations/scaled_rows.h"

namespace bnpvi {

namespace {

/// Regression: y = A z + ε, z = ([1], covariates). The first `responses` columns of the data, y, are
/// modelled; the other columns, the covariates, are known. A and the noise are as for an autoregression,
/// coef_mean with the intercept first. precision (E × E) refers to the coefficients of
/// (covariates − origin) / spread, so that it can be given for coordinates near the data where the precision
/// for the user's covariates would lose digits. centre and unit: for all columns of the data; without an
/// intercept no column can be centred.
struct RegressionPrior {
  Index responses;
  bool intercept;
  double df;
  Vec scale;
  Vec coef_mean, precision;
  Vec origin, spread;
  Vec centre, unit;
};

// v = ([1], z̃, ỹ), where the columns of the data are (y, z).
//
// With z̃ = (z − c) / u, a shift of covariates or responses changes the intercept only: the coefficients of
// z̃ are Ã_j = A_j u_j / u_y, and the intercept is (A_0 + Σ A_j c_j − c_y) / u_y.
class Regression final : public CoefficientModel {
 public:
  Regression(const RegressionPrior& prior, const Fields& fields)
      : Regression(described_prior(prior, fields, unit_of_responses(prior), engine_prior),
                   Columns(prior.centre, prior.unit), prior.intercept,
                   prior.intercept && !fields.has("tails")) {}

  Index n_columns() const override { return responses() + covariates(); }

 protected:
  std::shared_ptr<const CoefficientModel> with_prior(CoefficientPrior prior) const override {
    return std::shared_ptr<const CoefficientModel>(
        new Regression(std::move(prior), columns(), first_ == 1, offset() == 0));
  }

  Index column_of(Index i) const override {
    if (i >= regressors()) return i - regressors();
    return i < first_ ? -1 : responses() + i - first_;
  }

  void gather_rows(const Dataset& data, const Index* rows, Index n, double* v) const override {
    if (data.sparse()) throw std::invalid_argument("this observation model needs dense data");
    const Index d = responses(), m = regressors() + d;
    const Vec &c = columns().centre, &u = columns().unit;
    for (Index i = 0; i < n; ++i) {
      double* row = v + i * m;
      if (first_ == 1) row[0] = 1;
      for (Index j = 0; j < n_columns(); ++j)
        row[j < d ? regressors() + j : first_ + j - d] = (data.dense[j * data.n + rows[i]] - c[j]) / u[j];
    }
  }

  void precision_to_users(Vec& v) const override {
    change_regressors(
        v, regressors(), first_, [&](Index j) { return centre(j); }, [&](Index j) { return unit(j); });
  }

  // Coefficients with the intercept first.
  NamedArray coef_array(const char* name, const std::vector<WishartParameters>& q) const override {
    const Index d = responses(), e = regressors();
    NamedArray out{
        name, Vec(q.size() * static_cast<std::size_t>(d * e)), {d, e, static_cast<Index>(q.size())}};
    for (std::size_t k = 0; k < q.size(); ++k) {
      double* a = out.value.data() + static_cast<Index>(k) * d * e;
      for (Index i = 0; i < d; ++i) {
        const double unit_y = columns().unit[i];
        double intercept = columns().centre[i];
        for (Index j = first_; j < e; ++j) {
          a[i + d * j] = q[k].coef[i * e + j] * (unit_y / unit(j - first_));
          intercept -= a[i + d * j] * centre(j - first_);
        }
        if (first_ == 1) a[i] = intercept + unit_y * q[k].coef[i * e];
      }
    }
    return out;
  }

 private:
  // one_first: true if the 1 of the intercept counts rows; false if rows have scales.
  Regression(CoefficientPrior prior, const Columns& columns, bool intercept, bool one_first)
      : CoefficientModel(std::move(prior), columns, one_first), first_(intercept ? 1 : 0) {}

  static Vec unit_of_responses(const RegressionPrior& prior) {
    return Vec(prior.unit.begin(), prior.unit.begin() + prior.responses);
  }

  Index covariates() const { return regressors() - first_; }
  double centre(Index j) const { return columns().centre[responses() + j]; }
  double unit(Index j) const { return columns().unit[responses() + j]; }

  static WishartParameters engine_prior(const RegressionPrior& prior) {
    const Vec &unit = prior.unit, &centre = prior.centre;
    const Index d = prior.responses, first = prior.intercept ? 1 : 0,
                e = static_cast<Index>(unit.size()) - d + first;
    if (!prior.intercept && std::any_of(centre.begin(), centre.end(), [](double c) { return c != 0; }))
      throw std::invalid_argument("a regression without an intercept cannot be centred");
    WishartParameters out{e, d, prior.df, Vec(prior.coef_mean.size()), prior.precision, prior.scale};
    for (Index i = 0; i < d; ++i)
      for (Index j = 0; j < d; ++j) out.scale[i * d + j] = out.scale[i * d + j] / unit[i] / unit[j];
    change_regressors(
        out.precision, e, first, [&](Index j) { return (prior.origin[j] - centre[d + j]) / unit[d + j]; },
        [&](Index j) { return prior.spread[j] / unit[d + j]; });
    for (Index i = 0; i < d; ++i) {
      double intercept = -centre[i];
      for (Index j = first; j < e; ++j) {
        const double a = prior.coef_mean[i + d * j];
        intercept += a * centre[d + j - first];
        out.coef[i * e + j] = a * (unit[d + j - first] / unit[i]);
      }
      if (first == 1) out.coef[i * e] = (prior.coef_mean[i] + intercept) / unit[i];
    }
    return out;
  }

  Index first_;
};

}  // namespace

std::unique_ptr<ObsModel> make_regression(const Fields& f) {
  const Vec unit = f.numbers("unit");
  const bool intercept = f.flag("intercept");
  const auto d = static_cast<Index>(unit.size());
  const Index y = f.integer("responses"), covariates = d - y, e = covariates + (intercept ? 1 : 0);
  const RegressionPrior prior{y,
                              intercept,
                              f.number("df"),
                              f.numbers("scale", y * y),
                              f.numbers("coef_mean", y * e),
                              f.numbers("scaled_precision", e * e),
                              f.numbers("origin", covariates),
                              f.numbers("spread", covariates),
                              f.numbers("centre", d),
                              unit};
  auto of_rows = std::make_unique<Regression>(prior, f);
  const Index offset = of_rows->offset();
  if (f.has("effects")) return make_random_effects(f, std::move(of_rows), offset);
  return as_scaled(f, std::move(of_rows));
}

}  // namespace bnpvi
