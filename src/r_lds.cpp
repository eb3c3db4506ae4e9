// The entries of switching linear dynamical systems (obs_lds).
#include "r_lds.h"

#include <cmath>
#include <optional>

#include "dynamics/learn_lds.h"
#include "r_learn.h"

using namespace bnpvi;
using namespace bnpvi::dynamics;

namespace {

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
  LdsState out = state_of(problem, alloc, std::move(paths), std::move(r), k);
  if (!start.containsElementNamed("state")) return out;
  const Rcpp::List state = start["state"];
  out.globals = state_from_r(state, lds.model);
  out.emission = Emission(problem.emission, seen_from_r(state, problem.emission));
  for (int step = 0; step < 2; ++step) {
    smooth(problem, out, nullptr);
    assign(problem, out);
  }
  out.seen = emission_of(problem, out.paths);
  renew(problem, out);
  return out;
}

// From one mode, or from the modes of the rows; "best": the best of the latter and of three of the former,
// which differ in the windows they try. These have the bound of `search`, and what they end with is where the
// fit begins: under the loose one a mode more costs so much at first that most windows that are worth one
// fail (inst/bench/lds.R). With more than a thousand rows the four are compared after twenty laps.
LdsOutcome fit_from(const Lds& lds, const AllocModel* search, const std::string& init, SEXP start,
                    const Rcpp::NumericMatrix& rows_at, Index k_init, const LearnOptions& options) {
  const LdsProblem& problem = lds.problem;
  const std::shared_ptr<const AllocModel> alloc(std::shared_ptr<void>(), lds.model.alloc.get());
  const LatentPaths rows = paths_at(problem, row_major(rows_at, lds.series.n, problem.m, "data$rows"));
  const LatentPaths before = problem.emission.identity ? prior_paths(problem) : rows;
  if (!Rf_isNull(start))
    return learn_lds(problem, given_start(lds, Rcpp::List(start), alloc, before), options);
  const auto from_rows = [&](const std::shared_ptr<const AllocModel>& with) {
    return start_from_rows(problem, with, *lds.rows, rows, before, k_init, options);
  };
  if (problem.units.empty() || init == "one")
    return learn_lds(problem, one_mode(problem, alloc, before), options);
  if (init == "rows") return learn_lds(problem, from_rows(alloc), options);
  const std::shared_ptr<const AllocModel> searched(std::shared_ptr<void>(), search);
  constexpr Index few_rows = 1000, first_laps = 20;  // guesses
  const bool whole = lds.series.n <= few_rows || options.max_laps <= first_laps;
  LearnOptions first = options;
  if (!whole) first.max_laps = first_laps;
  LdsOutcome best = learn_lds(problem, from_rows(searched), first);
  bool stopped = best.reason == "interrupted";
  for (std::uint64_t i = 1; i <= 3 && !stopped; ++i) {
    LdsProblem again = problem;
    again.seed = restart_seed(problem.seed, i);
    LdsOutcome one = learn_lds(again, one_mode(problem, searched, before), first);
    stopped = one.reason == "interrupted";
    if (one.state.elbo > best.state.elbo) best = std::move(one);
  }
  if (!whole && !stopped) {
    best = learn_lds(problem, std::move(best.state), options);
    stopped = best.reason == "interrupted";
  }
  if (alloc->fixed_k() > 0) return best;  // its bound is the one of the search
  LdsState& found = best.state;
  LdsState begun = state_of(problem, alloc, std::move(found.paths), std::move(found.r), found.k);
  if (!stopped) return learn_lds(problem, std::move(begun), options);
  LapRecord only;
  only.lap = 1;
  only.elbo = begun.elbo;
  only.k = begun.k;
  return {std::move(begun), {only}, false, "interrupted"};
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
    Rcpp::List tight = Rcpp::clone(model);
    tight["bound"] = "tight";
    const RModel search(tight);
    std::optional<LdsOutcome> best;
    Vec seeds;
    std::vector<LapRecord> ends;
    bool interrupted = false;
    for (Index restart = 0; restart < restarts && !interrupted; ++restart) {
      lds.problem.seed = restart_seed(seed, static_cast<std::uint64_t>(restart));
      std::optional<LdsOutcome> outcome;
      try {
        outcome =
            fit_from(lds, search.alloc.get(), c.text("init"), start, rows, c.integer("k_init"), options);
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
