#include <algorithm>
#include <cmath>
#include <limits>

#include "observations/linalg.h"
#include "observations/obs_models.h"
#include "r_lds.h"

namespace bnpvi {

using namespace dynamics;

namespace {

// Data in engine units. y (n × d, NA where missing) becomes (y − centre)/unit; rows (n × m): hidden states
// before learning, in engine units; inputs: n × q, in the user's units.
Series series_of(const Rcpp::List& data, const Fields& f, const Vec& centre, const Vec& unit) {
  const bool intercept = f.flag("intercept"), with_inputs = f.has("input_unit");
  const Vec input_unit = with_inputs ? f.numbers("input_unit") : Vec(),
            input_centre = f.has("input_centre") ? f.numbers("input_centre") : Vec(input_unit.size(), 0.0);
  require(input_centre.size() == input_unit.size(), "model$obs has not a centre for each input");
  const Rcpp::NumericMatrix y(static_cast<SEXP>(data["y"]));
  Series out;
  out.n = y.nrow();
  out.d = y.ncol();
  require(static_cast<Index>(unit.size()) == out.d && centre.size() == unit.size(),
          "model$obs has not a unit for each column");
  out.y.resize(static_cast<std::size_t>(out.n * out.d));
  for (Index j = 0; j < out.d; ++j)
    for (Index t = 0; t < out.n; ++t) {
      const double value = y(static_cast<int>(t), static_cast<int>(j));
      out.y[t * out.d + j] = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN()
                                               : value / unit[j] - centre[j] / unit[j];
    }
  if (intercept) out.n_known = 1;
  const Index q = static_cast<Index>(input_unit.size());
  out.n_known += q;
  out.known.assign(static_cast<std::size_t>(out.n * out.n_known), 1.0);
  if (q > 0) {
    const Rcpp::NumericMatrix inputs(static_cast<SEXP>(data["inputs"]));
    require(inputs.nrow() == out.n && inputs.ncol() == q, "data$inputs have not the size of the data");
    for (Index j = 0; j < q; ++j)
      for (Index t = 0; t < out.n; ++t)
        out.known[(t + 1) * out.n_known - q + j] =
            inputs(static_cast<int>(t), static_cast<int>(j)) / input_unit[j] -
            input_centre[j] / input_unit[j];
  }
  for (int start : Rcpp::as<std::vector<int>>(data["starts"])) out.starts.push_back(start);
  require(out.starts.size() > 1 && out.starts.front() == 0 && out.starts.back() == out.n &&
              std::is_sorted(out.starts.begin(), out.starts.end()),
          "data$starts are no offsets of rows");
  out.weight.assign(static_cast<std::size_t>(out.n_groups()), 1.0);
  if (data.containsElementNamed("weights")) {
    out.weight = Rcpp::as<Vec>(data["weights"]);
    require(static_cast<Index>(out.weight.size()) == out.n_groups(), "data$weights are not one a sequence");
  }
  return out;
}

}  // namespace

Lds::Lds(const Fields& f, const Rcpp::List& data, const Rcpp::List& given, Pool& pool, Observer& observer)
    : latent_centre(f.numbers("centre")),
      latent_unit(f.numbers("unit")),
      centre(f.numbers("column_centre")),
      unit(f.numbers("column_unit")),
      series(series_of(data, f, centre, unit)),
      model(given),
      rows(rows_model(f)),
      problem{series, *model.obs, dynamics::emission_prior(f), start_prior(f), latent(), 0, {}, {}, {}, 0,
              pool,   observer} {
  for (double u : latent_unit) problem.log_unit += std::log(u);
  for (double u : unit) problem.log_units.push_back(std::log(u));
  for (Index g = 0; g < series.n_groups(); ++g)
    if (series.starts[g + 1] > problem.first_row(g)) problem.units.push_back(g);
  if (!data.containsElementNamed("weights")) return;
  for (Index g = 0; g < series.n_groups(); ++g)
    problem.row_weight.insert(problem.row_weight.end(),
                              static_cast<std::size_t>(series.starts[g + 1] - series.starts[g]),
                              series.weight[g]);
}

StartPrior Lds::start_prior(const Fields& f) const {
  const Index m = latent();
  StartPrior out;
  const Vec mean = f.numbers("start_mean", m);
  Vec var = f.numbers("start_var", m * m);
  for (Index a = 0; a < m; ++a) {
    out.mean.push_back((mean[a] - latent_centre[a]) / latent_unit[a]);
    for (Index b = 0; b < m; ++b) var[a * m + b] = var[a * m + b] / latent_unit[a] / latent_unit[b];
  }
  const Cholesky chol(var.data(), m);
  out.log_det = chol.log_det(0, m);
  const Vec l = chol.inverse_factor();
  out.precision.assign(var.size(), 0.0);
  for (Index i = 0; i < m; ++i)
    for (Index a = 0; a <= i; ++a)
      for (Index b = 0; b <= i; ++b) out.precision[a * m + b] += l[i * m + a] * l[i * m + b];
  return out;
}

std::unique_ptr<const ObsModel> Lds::rows_model(const Fields& f) const {
  return make_expected_ar(ar_prior(f, latent(), 1, "rows_scale"));
}
Vec row_major(const Rcpp::NumericMatrix& x, Index rows, Index cols, const char* what) {
  require(x.nrow() == rows && x.ncol() == cols, std::string(what) + " has not the size of the data");
  Vec out;
  out.reserve(static_cast<std::size_t>(rows * cols));
  for (int i = 0; i < x.nrow(); ++i)
    for (int j = 0; j < x.ncol(); ++j) out.push_back(x(i, j));
  return out;
}

Rcpp::NumericMatrix from_row_major(const Vec& x, Index rows, Index cols) {
  Rcpp::NumericMatrix out(static_cast<int>(rows), static_cast<int>(cols));
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) out(static_cast<int>(i), static_cast<int>(j)) = x[i * cols + j];
  return out;
}

void without_first_rows(const Series& s, Index k, Vec& r) {
  for (Index g = 0; g < s.n_groups(); ++g)
    if (s.starts[g] < s.starts[g + 1]) std::fill_n(r.begin() + s.starts[g] * k, k, 0.0);
}

Rcpp::List paths_to_r(const Lds& lds, const LdsState& state) {
  using Rcpp::_;
  const LatentPaths& p = state.paths;
  Rcpp::NumericMatrix mean = from_row_major(p.mean, p.n, p.m), var = from_row_major(p.var, p.n, p.n_var());
  for (Index a = 0; a < p.m; ++a)
    for (Index t = 0; t < p.n; ++t) {
      mean(static_cast<int>(t), static_cast<int>(a)) =
          lds.latent_centre[a] + lds.latent_unit[a] * p.mean[t * p.m + a];
      for (Index b = 0; b <= a; ++b)
        var(static_cast<int>(t), static_cast<int>(packed(a, b))) *= lds.latent_unit[a] * lds.latent_unit[b];
    }
  Rcpp::NumericMatrix features(static_cast<int>(p.n), static_cast<int>(p.n_features()));
  std::copy(p.features.begin(), p.features.end(), features.begin());
  return Rcpp::List::create(_["mean"] = mean, _["var"] = var, _["features"] = features,
                            _["resp"] = from_row_major(state.r, p.n, state.k), _["start"] = p.start,
                            _["entropy"] = p.entropy);
}

Rcpp::List state_with_emission(const LdsState& state, const EmissionPrior& prior) {
  Rcpp::List out = state_to_r(state.globals);
  if (prior.by_mode) return out;
  out.push_back(Rcpp::wrap(state.seen.count), "count");
  out.push_back(from_row_major(state.seen.moment, prior.d, prior.n_moments()), "moment");
  return out;
}

EmissionStatistics seen_from_r(const Rcpp::List& state, const EmissionPrior& prior) {
  EmissionStatistics out(prior);
  if (prior.by_mode) return out;
  out.count = Rcpp::as<Vec>(state["count"]);
  require(static_cast<Index>(out.count.size()) == prior.d, "state$count has not one number a column");
  out.moment = row_major(Rcpp::NumericMatrix(static_cast<SEXP>(state["moment"])), prior.d, prior.n_moments(),
                         "state$moment");
  return out;
}

namespace {

Rcpp::List emission_to_r(const Emission& e, const EmissionPrior& prior) {
  using Rcpp::_;
  return Rcpp::List::create(_["loadings"] = from_row_major(e.loadings(), prior.d, prior.e()),
                            _["inverse"] = from_row_major(e.inverse(), prior.d, prior.e() * prior.e()),
                            _["df"] = e.df(), _["scale"] = e.scale());
}

}  // namespace

Rcpp::List emission_to_r(const std::vector<Emission>& emissions, const EmissionPrior& prior) {
  Rcpp::List all;
  for (const Emission& e : emissions) all.push_back(emission_to_r(e, prior));
  return prior.by_mode ? all : Rcpp::List(static_cast<SEXP>(all[0]));
}

}  // namespace bnpvi
