#include <algorithm>
#include <cmath>
#include <optional>

#include "inference/batch_work.h"
#include "inference/check_progress.h"
#include "inference/labels_watch.h"
#include "inference/start.h"
#include "inference/visit_batches.h"
#include "r_checkpoint.h"
#include "r_convert.h"
#include "r_learn.h"
#include "r_source.h"
#include "r_topics.h"
#include "r_workers.h"
#include "testing/audit.h"

using namespace bnpvi;

namespace {

// Clusterings from which a fit of a fixed number of topics or states starts with the best: as in
// stats::kmeans(nstart = 10), whose labels it should not end below.
constexpr Index tries_of_fixed_k = 10;

State start_by(const std::string& init, const Problem& problem, Index k, Pool& pool) {
  k = std::max(k, problem.alloc.fixed_k());
  if (init == "blocks") return start_from_globals(problem, start_from_blocks(problem, k));
  if (init == "anchor") return start_from_globals(problem, start_of_model(problem, k, pool));
  if (init == "scalable") return start_from_globals(problem, start_from_all_rows(problem, k, pool));
  const Index rounds = init == "random" ? 0 : init == "kmeans" ? 100 : 10;
  const bool spread = init != "random";
  const Index tries = spread && problem.alloc.grouped() && problem.alloc.fixed_k() > 0 ? tries_of_fixed_k : 1;
  return start_from_globals(problem, start_from_seeds(problem, k, spread, rounds, tries, pool));
}

// Starts from anchor words and from clusters of documents; the one with the higher ELBO after ten laps is
// continued. Of 30 pairs of fits with a fixed K, 29 were in the same order after sixty laps as after ten.
State start_by_race(const Problem& problem, Index k, LearnOptions options, Pool& pool) {
  options.max_laps = std::min<Index>(10, options.max_laps);
  options.moves = MoveOptions();
  options.learn_prior = options.keep_interrupted = false;
  State best;
  for (const char* init : {"anchor", "bregman"}) {
    problem.observer.restarted();
    Progress raced =
        learn_memoized(problem, begin(problem, start_by(init, problem, k, pool)), options, pool).progress;
    if (raced.reason == "numerical") continue;
    if (best.batch.empty() || raced.state.elbo > best.elbo) best = std::move(raced.state);
  }
  if (best.batch.empty()) return start_by("bregman", problem, k, pool);
  return best;
}

// A fit that is done, as it was written, with the models that it learned.
Outcome outcome_of(Progress progress, const Rcpp::List& model, const Sparsity& sparsity) {
  const auto own = std::make_shared<const RModel>(model, sparsity, progress.learned);
  return {std::move(progress), {own, own->obs.get()}, {own, own->alloc.get()}};
}

// Not after numbers broke down (learn_memoized), nor after the last lap of stochastic learning, the only one
// with an ELBO, which is not a step of it.
bool can_go_on(const Progress& p, bool stochastic) {
  return p.reason != "numerical" && !(stochastic && std::isfinite(p.trace.back().elbo));
}

// Classes that own the clusters of a start; none where no row has a label.
std::vector<int> owners_of_start(const Rcpp::List& start, Index k) {
  if (!start.containsElementNamed("owner")) return {};
  const auto owner = Rcpp::as<std::vector<int>>(start["owner"]);
  require(static_cast<Index>(owner.size()) == k, "start$owner has not one class for each cluster");
  return owner;
}

State starting_state(const Problem& problem, const RModel& model, const Rcpp::List& control, SEXP start,
                     Pool& pool) {
  if (!Rf_isNull(start)) {
    const Rcpp::List s(start);
    const Index n = problem.source.shape().n, fixed_k = problem.alloc.fixed_k();
    if (s.containsElementNamed("state")) {
      Globals globals = state_from_r(Rcpp::List(s["state"]), model);
      if (s.containsElementNamed("obs")) {
        const auto from = make_obs_model(ListFields(Rcpp::List(s["obs"])));
        for (Index j = 0; j < globals.effective.k; ++j)
          model.obs->re_express(*from, globals.effective.edit_t(j));
      }
      State out = start_from_globals(problem, std::move(globals));
      if (is_update(start)) settle_earlier(problem, out);
      if (s.containsElementNamed("documents")) out.earlier = documents_from_r(s["documents"], problem.source);
      return out;
    }
    if (s.containsElementNamed("labels")) {
      const Rcpp::IntegerVector labels(static_cast<SEXP>(s["labels"]));
      const int k = Rcpp::as<int>(s["k"]);
      require(labels.size() == n && std::all_of(labels.begin(), labels.end(),
                                                [k](int label) { return 1 <= label && label <= k; }),
              "start$labels are not n labels from 1 to k");
      require(fixed_k == 0 || k == fixed_k, "start$k is not the number of clusters of the prior");
      return start_from_responsibilities(problem, {labels.begin(), k}, pool, owners_of_start(s, k));
    }
    const Rcpp::NumericMatrix resp(static_cast<SEXP>(s["resp"]));
    require(resp.nrow() == n && resp.ncol() > 0 && (fixed_k == 0 || resp.ncol() == fixed_k),
            "start$resp has not n rows and a column for each cluster");
    return start_from_responsibilities(problem, {resp.begin(), resp.nrow(), resp.ncol()}, pool,
                                       owners_of_start(s, resp.ncol()));
  }
  const ListFields c(control);
  const std::string init = c.text("init");
  if (init == "best") return start_by_race(problem, c.integer("k_init"), learn_options(control), pool);
  return start_by(init, problem, c.integer("k_init"), pool);
}

LapRecord end_of(const Progress& p) {
  LapRecord record;
  record.lap = static_cast<Index>(p.trace.size());
  record.elbo = p.state.elbo;
  record.k = p.state.k();
  return record;
}

// Numbers of the rows' most probable clusters; NA: rows without a likelihood of their own.
Rcpp::IntegerVector labels_of(const Problem& problem, const State& state, const FitData& data, Pool& pool) {
  Rcpp::IntegerVector labels =
      made_in_r([&] { return Rcpp::IntegerVector(static_cast<int>(problem.source.shape().n), NA_INTEGER); });
  const std::unique_ptr<Visitor> visitor = problem.alloc.visitor();
  Globals globals = state.globals;
  globals.weights = nullptr;
  const auto at = globals_for_work(problem, std::move(globals));
  for (const std::vector<Index>& wave : in_waves(all_batches(problem.source), problem.wave)) {
    std::vector<std::unique_ptr<VisitWork>> work;
    for (Index b : wave) {
      const auto memory = problem.alloc.remembers() ? nullptr : state.batch[b]->memory;
      visitor->prepare(at->globals, memory.get(), pool);
      work.push_back(std::make_unique<VisitWork>(b, at, *visitor, memory, std::make_unique<LabelsWatch>(),
                                                 false, nullptr));
    }
    do_work(problem, pool, work);
    for (const auto& done : work)
      static_cast<const LabelsWatch&>(*done->watch)
          .put_into(labels.begin(), *problem.source.open(done->batch));
  }
  if (data.uncounted().empty()) return labels;
  const Batch rest{*data.in_memory(), data.uncounted()};
  VisitWork work(0, at, *visitor, nullptr, std::make_unique<LabelsWatch>(), false, nullptr);
  work.run(problem, rest, pool);
  static_cast<const LabelsWatch&>(*work.watch).put_into(labels.begin(), rest);
  return labels;
}

// MoveMemory::origin of the clusters, from 1.
Rcpp::IntegerVector origins_to_r(const Progress& p) {
  Rcpp::IntegerVector out(static_cast<int>(p.state.k()));
  for (int j = 0; j < out.size(); ++j) out[j] = static_cast<int>(p.moves.origin(j)) + 1;
  return out;
}

void add_audit(const testing::Audit& audit, const State& state, Rcpp::List& out) {
  using Rcpp::_;
  if (state.assignments) {
    const Assignments& q = *state.assignments;
    Rcpp::NumericMatrix resp(static_cast<int>(q.n), static_cast<int>(q.k));
    std::copy(q.r.begin(), q.r.end(), resp.begin());
    out.push_back(resp, "responsibilities");
  }
  out.push_back(Rcpp::NumericVector::create(
                    _["checks"] = static_cast<double>(audit.checks), _["elbo"] = audit.elbo,
                    _["statistics"] = audit.statistics, _["entropy"] = audit.entropy, _["sums"] = audit.sums,
                    _["smallest_gain"] = audit.smallest_gain, _["moves"] = static_cast<double>(audit.moves),
                    _["rounds"] = static_cast<double>(audit.rounds),
                    _["foreseen"] = static_cast<double>(audit.n_foreseen), _["gain"] = audit.gain,
                    _["weights"] = static_cast<double>(audit.weights)),
                "audit");
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List engine_fit(Rcpp::List data, Rcpp::List model, Rcpp::List control, SEXP start, SEXP progress) {
  return entry([&] {
    const ListFields c(control);
    const Sparsity sparsity{c.integer("sparsity"), c.integer("candidates")};
    const RModel given(model, sparsity);
    const FitData rows(data, control, given, is_update(start));
    const auto seed = static_cast<unsigned long long>(c.number("seed"));
    const bool stochastic = c.text("algorithm") == "stochastic";
    LearnOptions options = learn_options(control);
    RMonitor monitor(Rcpp::Nullable<Rcpp::Function>(progress), options.keep_interrupted);
    RPool pool(c.integer("threads"), monitor);
    const Index restarts = Rf_isNull(start) ? c.integer("restarts") : 1;

    const Index wave = c.has("wave") ? c.integer("wave") : 1;
    const auto workers = hired_workers(control, rows);

    Checkpoints checkpoints(control);
    auto run = checkpoints.begin<Progress>(restarts);
    if (control.containsElementNamed("resume")) run.now = progress_from_r(control["resume"]);
    std::optional<testing::Audit> audit;
    if (control.containsElementNamed("audit") && c.flag("audit")) audit.emplace();
    Observer& observer = audit ? *audit : nobody;
    const auto key_of = [&](Index restart) {
      return restart_seed(seed, static_cast<std::uint64_t>(restart));
    };
    std::optional<Outcome> best;
    if (run.best) best = outcome_of(std::move(*run.best), model, sparsity);
    Rcpp::RObject kept;
    options.after_lap = [&](const Progress& p) {
      if (c.has("keep_lap") && p.lap == c.integer("keep_lap"))
        kept = made_in_r([&] { return progress_to_r(p); });
      if (can_go_on(p, stochastic) && (checkpoints.due() || !p.reason.empty() || p.lap >= options.max_laps))
        checkpoints.write<Progress>(run, &p, best ? &best->progress : nullptr);
    };
    bool interrupted = false;
    for (; run.restart < restarts && !interrupted; ++run.restart) {
      const std::uint64_t key = key_of(run.restart);
      const std::unique_ptr<Source> source = rows.dealt(key);
      const auto own = run.now ? std::make_shared<const RModel>(model, sparsity, run.now->learned) : nullptr;
      const RModel& rmodel = own ? *own : given;
      const Problem problem{*source, *rmodel.obs, *rmodel.alloc, key, observer, &pool, wave, workers.get()};
      observer.restarted();
      if (!run.now) checkpoints.write<Progress>(run, nullptr, best ? &best->progress : nullptr);
      std::optional<Outcome> outcome;
      try {
        if (run.now) require_progress(problem, *run.now);
        Progress from = run.now ? std::move(*run.now)
                                : begin(problem, starting_state(problem, rmodel, control, start, pool));
        run.now.reset();
        complete(problem, from);
        outcome = stochastic ? learn_stochastic(problem, std::move(from), options, pool)
                             : learn_memoized(problem, std::move(from), options, pool);
      } catch (const Interrupted&) {
        if (!options.keep_interrupted || !best) throw;
        pool.go_on();
        interrupted = true;
        break;
      }
      if (own && !outcome->obs) outcome->obs = {own, own->obs.get()};
      if (own && !outcome->alloc) outcome->alloc = {own, own->alloc.get()};
      const Progress& p = outcome->progress;
      interrupted = p.reason == "interrupted";
      const double elbo = p.state.elbo;
      run.ends.push_back(end_of(p));
      run.seeds.push_back(static_cast<double>(key));
      if (best && !(elbo > best->progress.state.elbo) && std::isfinite(best->progress.state.elbo)) continue;
      best = std::move(outcome);
      run.best_restart = run.restart;
    }
    const std::vector<LapRecord>& ends = run.ends;
    const Vec& seeds = run.seeds;
    const std::unique_ptr<Source> source = rows.dealt(key_of(run.best_restart));
    const Progress& end = best->progress;
    const State& state = end.state;

    using Rcpp::_;
    if (!std::isfinite(state.elbo)) return Rcpp::List::create(_["elbo"] = state.elbo);

    const ObsModel& obs = best->obs ? *best->obs : *given.obs;
    const AllocModel& alloc = best->alloc ? *best->alloc : *given.alloc;
    const Problem whole{*source, obs, alloc, seed, nobody, &pool, wave, workers.get()};
    if (checkpoints.resumes()) require_progress(whole, end);
    const Rcpp::IntegerVector labels = labels_of(whole, state, rows, pool);
    return made_in_r([&] {
      Rcpp::List out =
          Rcpp::List::create(_["state"] = state_to_r(state.globals), _["elbo"] = state.elbo,
                             _["terms"] = terms_to_r(elbo_terms(whole, state.total, state.globals)),
                             _["trace"] = trace_to_r(end.trace), _["converged"] = end.converged,
                             _["reason"] = end.reason, _["laps"] = static_cast<int>(end.trace.size()),
                             _["labels"] = labels, _["sizes"] = state.total.sizes());
      if (is_update(start)) out.push_back(origins_to_r(end), "origins");
      if (interrupted) out.push_back(true, "interrupted");
      if (ends.size() > 1) {
        out.push_back(trace_to_r(ends), "restarts");
        out.push_back(Rcpp::wrap(seeds), "seeds");
      }
      if (pool.n_threads() < c.integer("threads"))
        out.push_back(static_cast<int>(pool.n_threads()), "threads");
      const NamedArrays learned = obs.learned_fields();
      if (!learned.empty()) out.push_back(arrays_to_r(learned), "learned");
      const NamedArrays concentrations = alloc.learned_fields();
      if (!concentrations.empty()) out.push_back(arrays_to_r(concentrations), "concentrations");
      const Rcpp::RObject documents = document_counts_to_r(state, *source);
      if (!documents.isNULL()) out.push_back(documents, "documents");
      if (const Index open = most_open(*source)) out.push_back(static_cast<int>(open), "most_open");
      if (audit) add_audit(*audit, state, out);
      if (end.reason == "numerical") out.push_back(record_to_r(end.taken_back), "taken_back");
      if (!kept.isNULL()) out.push_back(kept, "progress");
      return out;
    });
  });
}
