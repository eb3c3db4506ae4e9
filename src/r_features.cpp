// The entries of bnp_features().
#include "r_features.h"

#include <cmath>
#include <numeric>

#include "features/check_progress.h"
#include "features/row_draws.h"
#include "features/stick_series.h"
#include "r_checkpoint.h"
#include "r_learn.h"

using namespace bnpvi;
using namespace bnpvi::features;

// [[Rcpp::export]]
Rcpp::List engine_features_fit(Rcpp::List data, Rcpp::List model, Rcpp::List control, SEXP start,
                               SEXP progress) {
  return entry([&] {
    const ListFields c(control);
    LearnOptions options = learn_options(control);
    RMonitor monitor(Rcpp::Nullable<Rcpp::Function>(progress), options.keep_interrupted);
    RPool pool(c.integer("threads"), monitor);
    const FeatureModel given(model);
    const FeatureData rows(data);
    const auto seed = static_cast<std::uint64_t>(c.number("seed"));
    const Index restarts = Rf_isNull(start) ? c.integer("restarts") : 1;
    const auto key_of = [&](Index restart) {
      return restart_seed(seed, static_cast<std::uint64_t>(restart));
    };

    Checkpoints checkpoints(control);
    auto run = checkpoints.begin<FeatureProgress>(restarts);
    const auto write = [&](const FeatureProgress* now) {
      checkpoints.write<FeatureProgress>(run, now, run.best ? &*run.best : nullptr);
    };
    const auto after_lap = [&](const FeatureProgress& p) {
      const bool last = !p.reason.empty() || static_cast<Index>(p.trace.size()) >= options.max_laps;
      if (last || checkpoints.due()) write(&p);
    };
    bool interrupted = false;
    for (; run.restart < restarts && !interrupted; ++run.restart) {
      const std::uint64_t key = key_of(run.restart);
      const Rows dealt = rows.dealt(given, control, key);
      const FeatureProblem problem{
          dealt, given.likelihood, *given.prior, given.offset, c.integer("sparsity"), key, pool};
      if (!run.now) write(nullptr);
      FeatureProgress outcome;
      try {
        FeatureProgress from;
        if (run.now) {
          require_progress(problem, *run.now);
          from = std::move(*run.now);
        } else {
          from.state = starting_state(problem, start);
        }
        run.now.reset();
        outcome = learn_features(problem, std::move(from), options, after_lap);
      } catch (const Interrupted&) {
        if (!options.keep_interrupted || !run.best) throw;
        pool.go_on();
        interrupted = true;
        break;
      }
      interrupted = outcome.reason == "interrupted";
      LapRecord end;
      end.lap = static_cast<Index>(outcome.trace.size());
      end.elbo = outcome.state.elbo;
      end.k = outcome.state.k();
      run.ends.push_back(end);
      run.seeds.push_back(static_cast<double>(key));
      if (run.best && !(end.elbo > run.best->state.elbo) && std::isfinite(run.best->state.elbo)) continue;
      run.best = std::move(outcome);
      run.best_restart = run.restart;
    }
    const FeatureProgress& best = *run.best;
    const FeatureState& state = best.state;
    const Rows kept = rows.dealt(given, control, key_of(run.best_restart));
    if (checkpoints.resumes())
      require_progress({kept, given.likelihood, *given.prior, given.offset, 0, 0, pool}, best);
    using Rcpp::_;
    return made_in_r([&] {
      Rcpp::List out = Rcpp::List::create(
          _["state"] = state_to_r(state, kept), _["elbo"] = state.elbo,
          _["terms"] = Rcpp::NumericVector::create(_["data"] = state.loadings.value,
                                                   _["features"] = state.weights.value,
                                                   _["entropy"] = entropy_of(state.total)),
          _["trace"] = trace_to_r(best.trace), _["converged"] = best.converged, _["reason"] = best.reason,
          _["presence"] = presence_to_r(state.presence, kept, state.id), _["id"] = state.id);
      if (interrupted) out.push_back(true, "interrupted");
      if (run.ends.size() > 1) {
        out.push_back(trace_to_r(run.ends), "restarts");
        out.push_back(run.seeds, "seeds");
      }
      if (pool.n_threads() < c.integer("threads"))
        out.push_back(static_cast<int>(pool.n_threads()), "threads");
      return out;
    });
  });
}

namespace {

// New rows, and what features they have, given all else; what is said of a row does not depend on the others.
struct NewRows {
  RMonitor monitor{R_NilValue};
  RPool pool;
  FeatureModel given;
  FeatureData data;
  Rows rows;
  Loadings loadings;
  Vec logit, bound;
  std::vector<int> id;
  LocalModel local;
  Visited visited;

  NewRows(const Rcpp::List& x, const Rcpp::List& model, const Rcpp::List& state, int threads)
      : pool(threads, monitor),
        given(model),
        data(x),
        rows(data.whole(given)),
        loadings(loadings_from_r(state, rows)),
        logit(Rcpp::as<Vec>(state["logit"])),
        bound(static_cast<std::size_t>(rows.n)),
        id(logit.size()),
        local{rows, loadings, logit, id, given.offset, 0, 0, false} {
    require(static_cast<Index>(logit.size()) + given.offset == loadings.k,
            "state$logit has not a number for each feature");
    std::iota(id.begin(), id.end(), 0);
    visited =
        visit(local, *rows.open(0), no_presence(rows.n), {100, Visiting::Start::fresh}, pool, bound.data());
  }
};

}  // namespace

// ν of new rows, as presence_to_r() has it, and what each row adds to the bound by its z, given all else.
// [[Rcpp::export]]
Rcpp::List engine_features_latent(Rcpp::List data, Rcpp::List model, Rcpp::List state, int threads) {
  return entry([&] {
    const NewRows at(data, model, state, threads);
    return made_in_r([&] {
      return Rcpp::List::create(Rcpp::_["presence"] = presence_to_r({at.visited.presence}, at.rows, at.id),
                                Rcpp::_["bound"] = at.bound);
    });
  });
}

// CellMoments of new rows: mean, variance and spread, rows × columns.
// [[Rcpp::export]]
Rcpp::List engine_features_cells(Rcpp::List data, Rcpp::List model, Rcpp::List state, int draws,
                                 int threads) {
  return entry([&] {
    NewRows at(data, model, state, threads);
    const CellMoments cells = draw_cells(at.local, *at.rows.open(0), *at.visited.presence, draws, at.pool);
    return made_in_r([&] {
      const auto matrix = [&](const Buffer& x) {
        return matrix_to_r(Vec(x.begin(), x.end()), at.rows.n, at.rows.d);
      };
      return Rcpp::List::create(Rcpp::_["mean"] = matrix(cells.mean),
                                Rcpp::_["variance"] = matrix(cells.variance),
                                Rcpp::_["spread"] = matrix(cells.spread));
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
Rcpp::NumericVector engine_features_without(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix presence) {
  return entry([&] {
    RMonitor monitor{R_NilValue};
    RPool pool(1, monitor);
    const FeatureModel given(model);
    const FeatureData in_memory(data);
    const Rows rows = in_memory.whole(given);
    const FeatureProblem problem{rows, given.likelihood, *given.prior, given.offset, 0, 0, pool};
    const FeatureState state = starting_state(problem, Rcpp::List::create(Rcpp::_["presence"] = presence));
    Vec out;
    for (Index j = 0; j < state.k(); ++j)
      out.push_back(value_without(problem.likelihood, rows, state.loadings, j + problem.offset));
    return made_in_r([&] { return Rcpp::NumericVector(out.begin(), out.end()); });
  });
}
