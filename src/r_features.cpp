// The entries of bnp_features().
#include <algorithm>
#include <cmath>

#include "features/learn_features.h"
#include "features/stick_series.h"
#include "r_learn.h"

using namespace bnpvi;
using namespace bnpvi::features;

namespace {

LinearGaussianPrior likelihood_of(const Rcpp::List& model) {
  const Rcpp::List list = model["likelihood"];
  const ListFields f(list);
  return {f.number("noise_shape"), f.number("noise_rate"), f.number("loading_shape"),
          f.number("loading_rate"), f.has("precision") ? f.number("precision") : 0};
}

Index offset_of(const Rcpp::List& model) { return Rcpp::as<bool>(model["offset"]) ? 1 : 0; }

Rows rows_of(const Rcpp::NumericMatrix& x, const Rcpp::List& model, Index n_batches, std::uint64_t seed) {
  const auto parent = Rcpp::as<std::vector<int>>(model["group"]);
  require(static_cast<Index>(parent.size()) == x.ncol(), "model$group has not a number for each column");
  const Index n = x.nrow();
  return make_rows(x.begin(), n, x.ncol(),
                   deal_batches(n, std::clamp<Index>(n_batches, 1, std::max<Index>(n, 1)), seed), parent);
}

Rcpp::NumericMatrix matrix_to_r(const Vec& values, Index rows, Index cols) {  // from row-major
  Rcpp::NumericMatrix out(static_cast<int>(rows), static_cast<int>(cols));
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) out(static_cast<int>(i), static_cast<int>(j)) = values[i * cols + j];
  return out;
}

Vec matrix_from_r(const Rcpp::NumericMatrix& x) {
  Vec out;
  for (int i = 0; i < x.nrow(); ++i)
    for (int j = 0; j < x.ncol(); ++j) out.push_back(x(i, j));
  return out;
}

// Globals and statistics; the offset, where there is one, comes first.
Rcpp::List state_to_r(const FeatureState& state, const Rows& rows) {
  using Rcpp::_;
  const Summary& s = state.total;
  Rcpp::List inverse;
  for (const Vec& v : state.loadings.v_inverse)
    inverse.push_back(matrix_to_r(v, v.empty() ? 0 : s.k, v.empty() ? 0 : s.k));
  Rcpp::NumericVector pair(s.pair.begin(), s.pair.end());
  pair.attr("dim") = Rcpp::IntegerVector::create(static_cast<int>(s.shape.pairs), static_cast<int>(s.k),
                                                 static_cast<int>(s.k));
  return Rcpp::List::create(_["k"] = static_cast<int>(state.k()), _["counts"] = s.sizes(),
                            _["extra"] = matrix_to_r(s.extra, s.k, s.shape.q), _["pair"] = pair,
                            _["scalar"] = s.scalar, _["group"] = rows.group,
                            _["loadings"] = matrix_to_r(state.loadings.m, s.k, rows.d),
                            _["inverse"] = inverse, _["noise"] = Vec{state.loadings.a, state.loadings.b},
                            _["precision"] = Vec{state.loadings.c, state.loadings.d, state.loadings.rho},
                            _["logit"] = state.weights.logit, _["prob"] = state.weights.prob,
                            _["stick"] = state.weights.stick, _["alpha"] = state.weights.alpha);
}

// The statistics of a state, for rows whose column groups are parts of its own.
Summary statistics_from_r(const Rcpp::List& state, const Rows& rows) {
  const auto counts = Rcpp::as<Vec>(state["counts"]), pair = Rcpp::as<Vec>(state["pair"]);
  const Index k = static_cast<Index>(counts.size());
  Summary out(summary_shape(rows), k);
  const Vec extra = matrix_from_r(state["extra"]);
  const Index earlier = k > 0 ? static_cast<Index>(pair.size()) / (k * k) : 1, pairs = out.shape.pairs;
  require(
      extra.size() == out.extra.size() && *std::max_element(rows.parent.begin(), rows.parent.end()) < earlier,
      "a state of features does not fit the columns");
  std::copy(counts.begin(), counts.end(), out.obs.edit().begin());
  out.extra = extra;
  out.scalar = Rcpp::as<Vec>(state["scalar"]);
  for (Index e = 0; e < k * k; ++e)
    for (Index g = 0; g < pairs; ++g)
      if (g == 0 || rows.parent[g] > 0)
        out.pair[e * pairs + g] = pair[e * earlier + (g == 0 ? 0 : rows.parent[g])];
  return out;
}

Loadings loadings_from_r(const Rcpp::List& state, const Rows& rows) {
  Loadings out;
  out.m = matrix_from_r(state["loadings"]);
  out.k = rows.d > 0 ? static_cast<Index>(out.m.size()) / rows.d : 0;
  const Rcpp::List inverse = state["inverse"];
  for (int parent : rows.parent) out.v_inverse.push_back(matrix_from_r(inverse[parent]));
  const auto noise = Rcpp::as<Vec>(state["noise"]);
  out.a = noise.at(0);
  out.b = noise.at(1);
  add_gram(rows, out);
  return out;
}

// Rows (1-based, as given), features (1-based, in their present order) and ν.
Rcpp::List presence_to_r(const std::vector<std::shared_ptr<const Presence>>& presence, const Rows& rows,
                         const std::vector<int>& id) {
  const std::vector<int> place = places_of(id);
  std::vector<int> row, feature;
  Vec value;
  for (Index b = 0; b < rows.n_batches(); ++b) {
    const Presence& p = *presence[b];
    for (Index i = 0; i < p.rows(); ++i)
      for (Index e = p.start[i]; e < p.start[i + 1]; ++e) {
        const auto j = static_cast<std::size_t>(p.feature[e]);
        if (j >= place.size() || place[j] < 0) continue;
        row.push_back(static_cast<int>(rows.number[rows.batch_start[b] + i]) + 1);
        feature.push_back(place[j] + 1);
        value.push_back(p.value[e]);
      }
  }
  return Rcpp::List::create(Rcpp::_["row"] = row, Rcpp::_["feature"] = feature, Rcpp::_["value"] = value);
}

FeatureState starting_state(const FeatureProblem& problem, SEXP start) {
  const Rows& rows = problem.rows;
  if (!Rf_isNull(start)) {
    const Rcpp::List list(start);
    if (list.containsElementNamed("state")) {
      const bool settled = list.containsElementNamed("settled");
      return state_from(problem, statistics_from_r(list["state"], rows), settled);
    }
    const Rcpp::NumericMatrix nu(static_cast<SEXP>(list["presence"]));
    require(nu.nrow() == rows.n, "start$presence has not a row for each row");
    std::vector<Presence> presence(static_cast<std::size_t>(rows.n_batches()));
    for (Index b = 0; b < rows.n_batches(); ++b)
      for (Index i = rows.batch_start[b]; i < rows.batch_start[b + 1]; ++i) {
        for (int j = 0; j < nu.ncol(); ++j) {
          const double value = nu(static_cast<int>(rows.number[i]), j);
          if (value > 0) presence[b].add(j, value);
        }
        presence[b].end_row();
      }
    return state_of(problem, nu.ncol(), std::move(presence));
  }
  std::vector<Presence> none;
  for (Index b = 0; b < rows.n_batches(); ++b)
    none.push_back(no_presence(rows.batch_start[b + 1] - rows.batch_start[b]));
  return state_of(problem, 0, std::move(none));
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List engine_features_fit(Rcpp::NumericMatrix x, Rcpp::List model, Rcpp::List control, SEXP start,
                               SEXP progress) {
  return entry([&] {
    const ListFields c(control);
    const LearnOptions options = learn_options(control);
    RMonitor monitor(Rcpp::Nullable<Rcpp::Function>(progress), options.keep_interrupted);
    RPool pool(c.integer("threads"), monitor);
    const auto prior = make_feature_prior(ListFields(Rcpp::List(model["prior"])));
    const auto seed = static_cast<std::uint64_t>(c.number("seed"));
    const Index restarts = Rf_isNull(start) ? c.integer("restarts") : 1;
    std::optional<FeatureOutcome> best;
    std::optional<Rows> kept;
    Vec seeds, ends;
    std::vector<int> ks, laps;
    for (Index restart = 0; restart < restarts; ++restart) {
      const std::uint64_t key = restart_seed(seed, static_cast<std::uint64_t>(restart));
      Rows rows = rows_of(x, model, c.text("algorithm") == "full" ? 1 : c.integer("batches"), key);
      const FeatureProblem problem{
          rows, likelihood_of(model), *prior, offset_of(model), c.integer("sparsity"), key, pool};
      std::optional<FeatureOutcome> outcome;
      try {
        outcome = learn_features(problem, starting_state(problem, start), options);
      } catch (const Interrupted&) {
        if (!options.keep_interrupted || !best) throw;
        pool.go_on();
        best->reason = "interrupted";
        break;
      }
      seeds.push_back(static_cast<double>(key));
      ends.push_back(outcome->state.elbo);
      ks.push_back(static_cast<int>(outcome->state.k()));
      laps.push_back(static_cast<int>(outcome->trace.size()));
      const bool stopped = outcome->reason == "interrupted";
      if (!best || outcome->state.elbo > best->state.elbo || !std::isfinite(best->state.elbo)) {
        best = std::move(outcome);
        kept = std::move(rows);
      }
      if (stopped) break;
    }
    const FeatureState& state = best->state;
    using Rcpp::_;
    return made_in_r([&] {
      Rcpp::List out = Rcpp::List::create(
          _["state"] = state_to_r(state, *kept), _["elbo"] = state.elbo,
          _["terms"] = Rcpp::NumericVector::create(_["data"] = state.loadings.value,
                                                   _["features"] = state.weights.value,
                                                   _["entropy"] = entropy_of(state.total)),
          _["trace"] = trace_to_r(best->trace), _["converged"] = best->converged, _["reason"] = best->reason,
          _["presence"] = presence_to_r(state.presence, *kept, state.id), _["id"] = state.id);
      if (restarts > 1)
        out.push_back(
            Rcpp::DataFrame::create(_["restart"] = Rcpp::seq_len(static_cast<R_xlen_t>(ends.size())),
                                    _["seed"] = seeds, _["elbo"] = ends, _["k"] = ks, _["laps"] = laps),
            "restarts");
      if (pool.n_threads() < c.integer("threads"))
        out.push_back(static_cast<int>(pool.n_threads()), "threads");
      return out;
    });
  });
}

// ν of new rows, as presence_to_r() has it, and what each row adds to the bound by its z, given all else.
// [[Rcpp::export]]
Rcpp::List engine_features_latent(Rcpp::NumericMatrix x, Rcpp::List model, Rcpp::List state, int threads) {
  return entry([&] {
    RMonitor monitor{R_NilValue};
    RPool pool(threads, monitor);
    const Rows rows = rows_of(x, model, 1, 0);
    const Loadings loadings = loadings_from_r(state, rows);
    const auto logit = Rcpp::as<Vec>(state["logit"]);
    std::vector<int> id;
    for (std::size_t j = 0; j < logit.size(); ++j) id.push_back(static_cast<int>(j));
    const LocalModel local{rows, loadings, logit, id, offset_of(model), 0, 0};
    Vec bound(static_cast<std::size_t>(rows.n));
    const Visited visited =
        visit(local, 0, rows.n, no_presence(rows.n), {100, Visiting::Start::fresh}, pool, bound.data());
    return made_in_r([&] {
      return Rcpp::List::create(Rcpp::_["presence"] = presence_to_r({visited.presence}, rows, id),
                                Rcpp::_["bound"] = bound);
    });
  });
}

// For tests: a prior's terms for these counts; with `stick`, the series of these sticks.
// [[Rcpp::export]]
Rcpp::List engine_feature_prior(Rcpp::List prior, Rcpp::NumericVector counts, double n,
                                Rcpp::NumericVector stick) {
  using Rcpp::_;
  const Vec count(counts.begin(), counts.end());
  if (stick.size() > 0) {
    Vec weight;
    for (int i = 0; i < stick.size() / 2; ++i) weight.push_back(n - (i < counts.size() ? counts[i] : 0));
    const StickSeries s = stick_series(Vec(stick.begin(), stick.end()), weight);
    return Rcpp::List::create(_["complement"] = s.complement, _["dilogarithm"] = s.dilogarithm,
                              _["complement_gradient"] = s.complement_gradient,
                              _["dilogarithm_gradient"] = s.dilogarithm_gradient);
  }
  const FeatureWeights w = make_feature_prior(ListFields(prior))->fit(count, n, {});
  return Rcpp::List::create(_["value"] = w.value, _["logit"] = w.logit, _["prob"] = w.prob,
                            _["stick"] = w.stick, _["alpha"] = w.alpha);
}

// For tests: value_without() of every feature, for the rows' probabilities of features `presence`.
// [[Rcpp::export]]
Rcpp::NumericVector engine_features_without(Rcpp::NumericMatrix x, Rcpp::List model,
                                            Rcpp::NumericMatrix presence) {
  return entry([&] {
    RMonitor monitor{R_NilValue};
    RPool pool(1, monitor);
    const auto prior = make_feature_prior(ListFields(Rcpp::List(model["prior"])));
    const Rows rows = rows_of(x, model, 1, 0);
    const FeatureProblem problem{rows, likelihood_of(model), *prior, offset_of(model), 0, 0, pool};
    const FeatureState state = starting_state(problem, Rcpp::List::create(Rcpp::_["presence"] = presence));
    Vec out;
    for (Index j = 0; j < state.k(); ++j)
      out.push_back(value_without(problem.likelihood, rows, state.loadings, j + problem.offset));
    return made_in_r([&] { return Rcpp::NumericVector(out.begin(), out.end()); });
  });
}
