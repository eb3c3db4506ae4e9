// The entries of switching linear dynamical systems (obs_lds).
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "dynamics/learn_lds.h"
#include "observations/linalg.h"
#include "observations/obs_models.h"
#include "r_learn.h"

using namespace bnpvi;
using namespace bnpvi::dynamics;

namespace {

// Data in engine units: y (n × d, NA where missing) minus centre over unit; rows (n × m): where hidden states
// are before anything is learned, in engine units.
Series series_of(const Rcpp::List& data, const Vec& centre, const Vec& unit) {
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

// Everything that an entry needs, with what LdsProblem refers to.
struct Lds {
  Vec latent_centre, latent_unit, centre, unit;
  Series series;
  RModel model;
  std::unique_ptr<const ObsModel> rows;  // of the model that rows are clustered by at a start
  RMonitor monitor;
  RPool pool;
  LdsProblem problem;

  Lds(const Rcpp::List& data, const Rcpp::List& given, int threads, std::uint64_t seed,
      Rcpp::Nullable<Rcpp::Function> progress = R_NilValue, bool catches = false)
      : Lds(ListFields(Rcpp::List(given["obs"])), data, given, threads, seed, progress, catches) {}

 private:
  Lds(const Fields& f, const Rcpp::List& data, const Rcpp::List& given, int threads, std::uint64_t seed,
      Rcpp::Nullable<Rcpp::Function> progress, bool catches)
      : latent_centre(f.numbers("centre")),
        latent_unit(f.numbers("unit")),
        centre(f.numbers("column_centre")),
        unit(f.numbers("column_unit")),
        series(series_of(data, centre, unit)),
        model(given),
        rows(rows_model(f)),
        monitor(progress, catches),
        pool(threads, monitor),
        problem{series,
                *model.obs,
                emission_prior(f),
                start_prior(f),
                latent(),
                f.flag("intercept"),
                0,
                {},
                {},
                {},
                seed,
                pool} {
    for (double u : latent_unit) problem.log_unit += std::log(u);
    for (double u : unit) problem.log_units.push_back(std::log(u));
    for (Index g = 0; g < series.n_groups(); ++g)
      if (series.starts[g + 1] - series.starts[g] > 1) problem.units.push_back(g);
    if (!data.containsElementNamed("weights")) return;
    for (Index g = 0; g < series.n_groups(); ++g)
      problem.row_weight.insert(problem.row_weight.end(),
                                static_cast<std::size_t>(series.starts[g + 1] - series.starts[g]),
                                series.weight[g]);
  }

  Index latent() const { return static_cast<Index>(latent_unit.size()); }

  EmissionPrior emission_prior(const Fields& f) const {
    EmissionPrior out;
    out.d = series.d;
    out.m = latent();
    out.identity = f.flag("identity");
    const Vec variance = f.has("noise") ? f.numbers("noise", out.d) : f.numbers("noise_scale", out.d);
    Vec& to = f.has("noise") ? out.known : out.scale;
    for (Index j = 0; j < out.d; ++j) to.push_back(variance[j] / unit[j] / unit[j]);
    if (!f.has("noise")) out.df = f.number("noise_df");
    if (!out.identity) out.precision = f.numbers("loading_precision", out.e() * out.e());
    return out;
  }

  StartPrior start_prior(const Fields& f) const {
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

  std::unique_ptr<const ObsModel> rows_model(const Fields& f) const {
    const Index m = latent(), e = m + (f.flag("intercept") ? 1 : 0);
    return make_expected_ar({1, f.flag("intercept"), f.number("df"), f.numbers("rows_scale", m * m),
                             f.numbers("coef_mean", m * e), f.numbers("coef_precision", e * e), latent_centre,
                             latent_unit});
  }
};

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

// Rows that begin a sequence have no mode.
void without_first_rows(const Series& s, Index k, Vec& r) {
  for (Index g = 0; g < s.n_groups(); ++g)
    if (s.starts[g] < s.starts[g + 1]) std::fill_n(r.begin() + s.starts[g] * k, k, 0.0);
}

// q(x) in the user's units, E φ in engine units, q(z), and what the emission has seen.
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
  out.push_back(Rcpp::wrap(state.seen.count), "count");
  out.push_back(from_row_major(state.seen.moment, prior.d, prior.n_moments()), "moment");
  return out;
}

EmissionStatistics seen_from_r(const Rcpp::List& state, const EmissionPrior& prior) {
  EmissionStatistics out(prior);
  out.count = Rcpp::as<Vec>(state["count"]);
  require(static_cast<Index>(out.count.size()) == prior.d, "state$count has not one number a column");
  out.moment = row_major(Rcpp::NumericMatrix(static_cast<SEXP>(state["moment"])), prior.d, prior.n_moments(),
                         "state$moment");
  return out;
}

// q(C, ρ) in engine units.
Rcpp::List emission_to_r(const Emission& e, const EmissionPrior& prior) {
  using Rcpp::_;
  return Rcpp::List::create(_["loadings"] = from_row_major(e.loadings(), prior.d, prior.e()),
                            _["inverse"] = from_row_major(e.inverse(), prior.d, prior.e() * prior.e()),
                            _["df"] = e.df(), _["scale"] = e.scale());
}

LdsState given_start(const Lds& lds, const Rcpp::List& start, const std::shared_ptr<const AllocModel>& alloc,
                     const LatentPaths& before) {
  const LdsProblem& problem = lds.problem;
  const Series& s = lds.series;
  const Rcpp::NumericMatrix resp(static_cast<SEXP>(start["resp"]));
  const Index k = resp.ncol();
  require(alloc->fixed_k() == 0 || k == alloc->fixed_k(), "start$resp has not a column for each mode");
  Vec r = row_major(resp, s.n, k, "start$resp");
  without_first_rows(s, k, r);
  LatentPaths paths = before;
  if (start.containsElementNamed("mean")) {
    paths.mean =
        row_major(Rcpp::NumericMatrix(static_cast<SEXP>(start["mean"])), s.n, problem.m, "start$mean");
    paths.var =
        row_major(Rcpp::NumericMatrix(static_cast<SEXP>(start["var"])), s.n, paths.n_var(), "start$var");
    for (Index g = 0; g < s.n_groups(); ++g)
      for (Index t = s.starts[g] + 1; t < s.starts[g + 1]; ++t) paths.set_features(t, nullptr);
  }
  return state_of(problem, alloc, std::move(paths), std::move(r), k);
}

// The better of one mode with births and of the modes of the rows, each after ten laps, as `init` says.
LdsOutcome fit_from(const Lds& lds, const std::string& init, SEXP start, const Rcpp::NumericMatrix& rows_at,
                    Index k_init, const LearnOptions& options) {
  const LdsProblem& problem = lds.problem;
  const std::shared_ptr<const AllocModel> alloc(std::shared_ptr<void>(), lds.model.alloc.get());
  const LatentPaths rows = paths_at(problem, row_major(rows_at, lds.series.n, problem.m, "data$rows"));
  const LatentPaths before = problem.emission.identity ? prior_paths(problem) : rows;
  if (!Rf_isNull(start))
    return learn_lds(problem, given_start(lds, Rcpp::List(start), alloc, before), options);
  const auto from_rows = [&] {
    return start_from_rows(problem, alloc, *lds.rows, rows, before, k_init, options);
  };
  if (problem.units.empty() || init == "one")
    return learn_lds(problem, one_mode(problem, alloc, before), options);
  if (init == "rows" || alloc->fixed_k() > 0) return learn_lds(problem, from_rows(), options);
  LearnOptions few = options;
  few.max_laps = std::min<Index>(10, options.max_laps);
  few.keep_interrupted = false;
  LdsOutcome one = learn_lds(problem, one_mode(problem, alloc, before), few);
  LdsOutcome other = learn_lds(problem, from_rows(), few);
  return learn_lds(problem, std::move((other.state.elbo > one.state.elbo ? other : one).state), options);
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List engine_lds_fit(Rcpp::List data, Rcpp::List model, Rcpp::List control, SEXP start, SEXP progress) {
  return entry([&] {
    const ListFields c(control);
    const LearnOptions options = learn_options(control);
    const auto seed = static_cast<std::uint64_t>(c.number("seed"));
    Lds lds(data, model, static_cast<int>(c.integer("threads")), seed,
            Rcpp::Nullable<Rcpp::Function>(progress), options.keep_interrupted);
    const Index restarts = Rf_isNull(start) ? c.integer("restarts") : 1;
    const Rcpp::NumericMatrix rows(static_cast<SEXP>(data["rows"]));
    std::optional<LdsOutcome> best;
    Vec seeds;
    std::vector<LapRecord> ends;
    bool interrupted = false;
    for (Index restart = 0; restart < restarts && !interrupted; ++restart) {
      lds.problem.seed = restart_seed(seed, static_cast<std::uint64_t>(restart));
      std::optional<LdsOutcome> outcome;
      try {
        outcome = fit_from(lds, c.text("init"), start, rows, c.integer("k_init"), options);
      } catch (const Interrupted&) {
        if (!options.keep_interrupted || !best) throw;
        lds.pool.go_on();
        interrupted = true;
        break;
      }
      interrupted = outcome->reason == "interrupted";
      seeds.push_back(static_cast<double>(lds.problem.seed));
      LapRecord end;
      end.lap = static_cast<Index>(outcome->trace.size());
      end.elbo = outcome->state.elbo;
      end.k = outcome->state.k;
      ends.push_back(end);
      if (!best || outcome->state.elbo > best->state.elbo || !std::isfinite(best->state.elbo))
        best = std::move(outcome);
    }
    const LdsState& state = best->state;
    using Rcpp::_;
    return made_in_r([&] {
      Rcpp::List out =
          Rcpp::List::create(_["state"] = state_with_emission(state, lds.problem.emission),
                             _["elbo"] = state.elbo, _["terms"] = terms_to_r(state.terms),
                             _["trace"] = trace_to_r(best->trace), _["converged"] = best->converged,
                             _["reason"] = best->reason, _["laps"] = static_cast<int>(best->trace.size()),
                             _["sizes"] = state.total.sizes(), _["paths"] = paths_to_r(lds, state));
      if (interrupted) out.push_back(true, "interrupted");
      if (ends.size() > 1) {
        out.push_back(trace_to_r(ends), "restarts");
        out.push_back(Rcpp::wrap(seeds), "seeds");
      }
      if (lds.pool.n_threads() < c.integer("threads"))
        out.push_back(static_cast<int>(lds.pool.n_threads()), "threads");
      const NamedArrays concentrations = state.alloc->learned_fields();
      if (!concentrations.empty()) out.push_back(arrays_to_r(concentrations), "concentrations");
      return out;
    });
  });
}

// [[Rcpp::export]]
Rcpp::List engine_lds_emission(Rcpp::List data, Rcpp::List model, Rcpp::List state) {
  return entry([&] {
    const Lds lds(data, model, 1, 0);
    return emission_to_r(Emission(lds.problem.emission, seen_from_r(state, lds.problem.emission)),
                         lds.problem.emission);
  });
}

// q(x) and q(z) of new sequences at the globals of a fit: rounds of x- and z-steps until a round gains less
// than 1e-6 a row, from states near the rows and from ones smoothed by the average mode, the better of which
// is kept.
// [[Rcpp::export]]
Rcpp::List engine_lds_smooth(Rcpp::List data, Rcpp::List model, Rcpp::List state, int threads) {
  return entry([&] {
    Lds lds(data, model, threads, 0);
    const LdsProblem& problem = lds.problem;
    const std::shared_ptr<const AllocModel> alloc(std::shared_ptr<void>(), lds.model.alloc.get());
    const Globals globals = state_from_r(state, lds.model);
    const Index k = globals.effective.k, n = lds.series.n;
    const EmissionStatistics seen = seen_from_r(state, problem.emission);
    const Vec sizes = globals.effective.sizes();
    double all = 0;
    for (double size : sizes) all += size;
    const auto begin = [&](LatentPaths paths) {
      Vec r(static_cast<std::size_t>(n * k));
      for (Index t = 0; t < n; ++t)
        for (Index j = 0; j < k; ++j) r[t * k + j] = all > 0 ? sizes[j] / all : 1 / static_cast<double>(k);
      without_first_rows(lds.series, k, r);
      LdsState out{alloc, std::move(paths), k,  std::move(r), seen, Emission(problem.emission, seen),
                   {},    globals,          {}, {},           0};
      out.total = Summary(alloc->shape(problem.obs), k);
      return out;
    };
    const auto round = [&](LdsState& s) {
      assign(problem, s);
      smooth(problem, s, nullptr);
      assign(problem, s);
      s.seen = emission_of(problem, s.paths);
      const Dataset view = expected_rows(problem, s);
      const MemorySource source(view, {problem.units});
      const Problem modes{source, problem.obs, *alloc, 0, nobody, &lds.pool};
      s.elbo = sum_terms(elbo_terms(modes, s.total, s.globals)) + s.emission.expected(s.seen);
      for (Index g = 0; g < lds.series.n_groups(); ++g)
        s.elbo += lds.series.weight[g] * (s.paths.start[g] + s.paths.entropy[g]);
    };
    const auto settle = [&](LdsState& s) {
      for (int i = 0; i < 100; ++i) {
        const double before = s.elbo;
        round(s);
        if (i > 0 && s.elbo - before < 1e-6 * static_cast<double>(n)) return;
      }
    };
    LdsState smoothed = begin(LatentPaths(n, problem.m, problem.intercept, lds.series.n_groups()));
    smooth(problem, smoothed, nullptr);
    settle(smoothed);
    LdsState at_rows = begin(paths_at(
        problem, row_major(Rcpp::NumericMatrix(static_cast<SEXP>(data["rows"])), n, problem.m, "data$rows")));
    settle(at_rows);
    const LdsState& best = at_rows.elbo > smoothed.elbo ? at_rows : smoothed;
    return made_in_r([&] { return paths_to_r(lds, best); });
  });
}

// q(x) for given responsibilities and weights of modes (K × p), in engine units of a model whose units are 1
// (for tests).
// [[Rcpp::export]]
Rcpp::List engine_lds_chain(Rcpp::List data, Rcpp::List model, Rcpp::List state, Rcpp::NumericMatrix resp,
                            Rcpp::NumericMatrix weights) {
  return entry([&] {
    Lds lds(data, model, 1, 0);
    const LdsProblem& problem = lds.problem;
    const Series& s = lds.series;
    const Vec r = row_major(resp, s.n, resp.ncol(), "resp"),
              w = row_major(weights, resp.ncol(), problem.obs.n_features(), "weights");
    const EmissionStatistics seen = seen_from_r(state, problem.emission);
    LdsState out{{},
                 LatentPaths(s.n, problem.m, problem.intercept, s.n_groups()),
                 resp.ncol(),
                 r,
                 seen,
                 Emission(problem.emission, seen),
                 {},
                 {},
                 {},
                 {},
                 0};
    for (Index g = 0; g < s.n_groups(); ++g)
      smooth_rows(
          s, s.starts[g], s.starts[g + 1], g, {r.data(), resp.ncol(), w.data()}, out.emission, problem.start,
          [] {}, out.paths);
    Rcpp::List list = paths_to_r(lds, out);
    list.push_back(out.emission.expected(emission_of(problem, out.paths)), "expected");
    return list;
  });
}
