#include <algorithm>
#include <stdexcept>
#include <utility>

#include "observations/coefficient_model.h"
#include "observations/obs_models.h"
#include "observations/scaled_rows.h"

namespace bnpvi {

namespace {

// z = (lag 1, lag 2, ..., [1], [inputs]).
//
// Scaling a column multiplies its coefficients by ratios of units. Centring at c, with C = (c, ..., c) over
// the lags followed by the centres of inputs, multiplies z by the matrix G⁻¹ = [I, −C; 0, 1] (the constant
// last). It changes V to G⁻¹ V G⁻ᵀ and the intercept b to b + A C − c: an exact reparametrisation, which
// needs an intercept.
class Autoregressive : public CoefficientModel {
 public:
  explicit Autoregressive(const ArPrior& prior)
      : Autoregressive(CoefficientPrior(engine_prior(prior)), Columns(prior.centre, prior.unit), prior.lag,
                       prior.intercept, prior) {}
  Autoregressive(const ArPrior& prior, const Fields& fields)
      : Autoregressive(described_prior(prior, fields, prior.unit, engine_prior),
                       Columns(prior.centre, prior.unit), prior.lag, prior.intercept, prior) {}

  Capabilities capabilities() const override {
    Capabilities out = CoefficientModel::capabilities();
    out.lag = lag_;
    return out;
  }

 protected:
  std::shared_ptr<const CoefficientModel> with_prior(CoefficientPrior prior) const override {
    return std::shared_ptr<const CoefficientModel>(
        new Autoregressive(std::move(prior), columns(), lag_, intercept_, inputs_));
  }

  Index column_of(Index i) const override {
    if (i < lag_ * responses()) return i % responses();
    return i < regressors() ? -1 : i - regressors();
  }

  void gather_rows(const Dataset& data, const Index* rows, Index n, double* v) const override {
    const Index d = responses(), m = regressors() + d;
    for (Index l = 1; l <= lag_; ++l) gather(data, columns(), rows, n, l, v + (l - 1) * d, m);
    if (intercept_)
      for (Index i = 0; i < n; ++i) v[i * m + lag_ * d] = 1;
    gather(data, columns(), rows, n, 0, v + regressors(), m);
  }

  void precision_to_users(Vec& v) const override {
    const Index e = regressors();
    for (Index i = 0; i < e; ++i)
      for (Index j = 0; j < e; ++j) v[i * e + j] *= regressor_unit(i) * regressor_unit(j);
    if (intercept_) shift_precision(v, centres(columns().centre, lag_, intercept_, inputs_.centre), one(), 1);
  }

  NamedArray coef_array(const char* name, const std::vector<WishartParameters>& q) const override {
    const Index d = responses(), e = regressors();
    const Vec centre = centres(columns().centre, lag_, intercept_, inputs_.centre);
    NamedArray out{name, {}, {d, e, static_cast<Index>(q.size())}};
    for (const auto& cluster : q) {
      Vec shift = columns().centre;
      const std::size_t first = out.value.size();
      for (Index j = 0; j < e; ++j)
        for (Index i = 0; i < d; ++i) {
          const double a = cluster.coef[i * e + j] * (columns().unit[i] / regressor_unit(j));
          if (j != one()) shift[i] -= a * centre[j];
          out.value.push_back(a);
        }
      for (Index i = 0; intercept_ && i < d; ++i) out.value[first + one() * d + i] += shift[i];
    }
    return out;
  }

 private:
  struct Inputs {
    Vec centre, unit;
    Inputs(const ArPrior& prior) : centre(prior.input_centre), unit(prior.input_unit) {}
  };

  Autoregressive(CoefficientPrior prior, const Columns& columns, Index lag, bool intercept, Inputs inputs)
      : CoefficientModel(std::move(prior), columns, false),
        lag_(lag),
        intercept_(intercept),
        inputs_(std::move(inputs)) {}

  static WishartParameters engine_prior(const ArPrior& prior) {
    const Vec& unit = prior.unit;
    const Vec& centre = prior.centre;
    const Index d = static_cast<Index>(unit.size()), lags = d * prior.lag,
                inputs = static_cast<Index>(prior.input_unit.size()), one = lags,
                e = lags + (prior.intercept ? 1 : 0) + inputs;
    const Vec of_regressors = centres(centre, prior.lag, prior.intercept, prior.input_centre);
    if (!prior.intercept &&
        std::any_of(of_regressors.begin(), of_regressors.end(), [](double c) { return c != 0; }))
      throw std::invalid_argument("an autoregression without an intercept cannot be centred");
    WishartParameters out{e, d, prior.df, Vec(prior.coef_mean.size()), prior.precision, prior.scale};
    for (Index i = 0; i < d; ++i)
      for (Index j = 0; j < d; ++j) out.scale[i * d + j] = out.scale[i * d + j] / unit[i] / unit[j];

    Vec from_origin = of_regressors;
    const Vec origin = centres(prior.origin, prior.lag, prior.intercept, prior.input_origin);
    for (Index i = 0; i < e; ++i) from_origin[i] -= origin[i];
    if (prior.intercept) shift_precision(out.precision, from_origin, one, -1);
    const auto unit_of = [&](Index j) {
      return j < lags ? unit[j % d] : j >= e - inputs ? prior.input_unit[j - (e - inputs)] : 1.0;
    };
    for (Index i = 0; i < e; ++i)
      for (Index j = 0; j < e; ++j)
        out.precision[i * e + j] = out.precision[i * e + j] / unit_of(i) / unit_of(j);

    for (Index i = 0; i < d; ++i) {
      double shift = -centre[i];
      for (Index j = 0; j < e; ++j)
        if (j < lags || j >= e - inputs) shift += prior.coef_mean[i + d * j] * of_regressors[j];
      for (Index j = 0; j < e; ++j)
        out.coef[i * e + j] = (prior.coef_mean[i + d * j] + (prior.intercept && j == one ? shift : 0.0)) *
                              (unit_of(j) / unit[i]);
    }
    return out;
  }

  // One number for each regressor: the centre of its column or input, 0 for the constant.
  static Vec centres(const Vec& column, Index lag, bool intercept, const Vec& input) {
    Vec out;
    for (Index l = 0; l < lag; ++l) out.insert(out.end(), column.begin(), column.end());
    if (intercept) out.push_back(0);
    out.insert(out.end(), input.begin(), input.end());
    return out;
  }

  // V ← G V Gᵀ with G = [I, sign · C; 0, 1], written for the constant, regressor `one`, as the last. centre:
  // C, with 0 for the constant.
  static void shift_precision(Vec& v, const Vec& centre, Index one, double sign) {
    const Index e = static_cast<Index>(centre.size());
    for (Index i = 0; i < e; ++i)
      for (Index j = 0; j < e && i != one; ++j) v[i * e + j] += sign * centre[i] * v[one * e + j];
    for (Index j = 0; j < e; ++j)
      for (Index i = 0; i < e && j != one; ++i) v[i * e + j] += sign * centre[j] * v[i * e + one];
  }

  Index one() const { return lag_ * responses(); }  // number of the constant, if there is one

  double regressor_unit(Index j) const {
    if (j < one()) return columns().unit[j % responses()];
    const Index input = j - one() - (intercept_ ? 1 : 0);
    return input < 0 ? 1.0 : inputs_.unit[input];
  }

  Index lag_;
  bool intercept_;
  Inputs inputs_;
};

// The rows of the data are expected features E φ, computed by the caller.
class ExpectedAutoregressive final : public Autoregressive {
 public:
  using Autoregressive::Autoregressive;

  Index n_columns() const override { return n_features(); }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    for (Index i = 0; i < n_features(); ++i)
      for (Index j = 0; j < n; ++j) phi[j * ld + i] = data.dense[i * data.n + rows[j]];
  }

  // The E φ of an uncertain row is not an outer product v vᵀ, which the closed forms assume.
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    ObsModel::log_predictive(t, phi, n, ld, out);
  }
};

}  // namespace

std::unique_ptr<ObsModel> make_expected_ar(const ArPrior& prior) {
  return std::make_unique<ExpectedAutoregressive>(prior);
}

std::unique_ptr<ObsModel> make_lds(const Fields& f) {
  return make_expected_ar(ar_prior(f, static_cast<Index>(f.numbers("unit").size()), 1, "scale"));
}

std::unique_ptr<ObsModel> make_ar(const Fields& f) {
  const auto d = static_cast<Index>(f.numbers("unit").size());
  return as_scaled(f, std::make_unique<Autoregressive>(ar_prior(f, d, f.integer("lag"), "scale"), f));
}

ArPrior ar_prior(const Fields& f, Index d, Index lag, const char* scale) {
  const bool intercept = f.flag("intercept"), centred = f.has("centred_precision");
  const bool inputs = f.has("input_unit");
  const auto of_inputs = [&](const char* name) { return inputs ? f.numbers(name) : Vec(); };
  const Vec input_unit = of_inputs("input_unit");
  const auto q = static_cast<Index>(input_unit.size()), e = d * lag + (intercept ? 1 : 0) + q;
  return {lag,
          intercept,
          f.number("df"),
          f.numbers(scale, d * d),
          f.numbers("coef_mean", d * e),
          f.numbers(centred ? "centred_precision" : "coef_precision", e * e),
          centred ? f.numbers("origin", d) : Vec(static_cast<std::size_t>(d), 0.0),
          f.numbers("centre", d),
          f.numbers("unit", d),
          of_inputs("input_centre"),
          input_unit,
          inputs && centred ? f.numbers("input_origin", q) : Vec(static_cast<std::size_t>(q), 0.0)};
}

}  // namespace bnpvi
