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
    const auto raced = memoized_fit(problem, begin(problem, start_by(init, problem, k, pool)), options, pool);
    Course course;
    drive(*raced, course, options, pool, [&](const LapRecord& lap) { pool.monitor().lap(lap); });
    if (course.reason == "numerical") continue;
    if (best.batch.empty() || raced->objective() > best.elbo) best = raced->state();
  }
  if (best.batch.empty()) return start_by("bregman", problem, k, pool);
  return best;
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
    const bool stochastic = c.text("algorithm") == "stochastic";
    LearnOptions options = learn_options(control);
    if (!Rf_isNull(start)) options.restarts = 1;
    RMonitor monitor(Rcpp::Nullable<Rcpp::Function>(progress), options.keep_interrupted);
    RPool pool(c.integer("threads"), monitor);
    const Index wave = c.has("wave") ? c.integer("wave") : 1;
    const auto workers = hired_workers(control, rows);
    std::optional<testing::Audit> audit;
    if (control.containsElementNamed("audit") && c.flag("audit")) audit.emplace();
    Observer& observer = audit ? *audit : nobody;

    // What a restart has of its own: its batches, and the models with these fields learned.
    const auto view_of = [&](std::uint64_t key, const NamedArrays& learned) {
      struct View {
        std::unique_ptr<const RModel> own;
        std::unique_ptr<const Source> source;
        std::optional<Problem> problem;
      };
      auto view = std::make_shared<View>();
      if (!learned.empty()) view->own = std::make_unique<RModel>(model, sparsity, learned);
      const RModel& at = view->own ? *view->own : given;
      view->source = rows.dealt(key);
      observer.restarted();
      view->problem.emplace(
          Problem{*view->source, *at.obs, *at.alloc, key, observer, &pool, wave, workers.get()});
      return view;
    };
    const auto fit_of = [&](const auto& view, Progress from) {
      auto fit = stochastic ? stochastic_fit(*view->problem, std::move(from), options, pool)
                            : memoized_fit(*view->problem, std::move(from), options, pool);
      fit->hold(view);
      return fit;
    };
    const Maker maker{[&](std::uint64_t key) {
                        const auto view = view_of(key, {});
                        State state = starting_state(*view->problem, given, control, start, pool);
                        return Learned{fit_of(view, begin(*view->problem, std::move(state))), {}};
                      },
                      [&](std::uint64_t key, Reader& in) {
                        Progress from = Progress::read(in);
                        const auto view = view_of(key, from.learned);
                        require_progress(*view->problem, from);
                        return fit_of(view, std::move(from));
                      }};
    Checkpoints checkpoints(control);
    const Restarted run = drive_restarts(maker, options, pool, checkpoints, checkpoints.stored());
    const Course& course = run.best.course;
    using Rcpp::_;
    if (!std::isfinite(course.objective)) return Rcpp::List::create(_["elbo"] = course.objective);

    const auto& fit = static_cast<const SharedFit&>(*run.best.fit);
    const State& state = fit.state();
    const std::unique_ptr<Source> source = rows.dealt(fit.problem().seed);
    const ObsModel& obs = fit.problem().obs;
    const AllocModel& alloc = fit.problem().alloc;
    const Problem whole{*source, obs, alloc, options.seed, nobody, &pool, wave, workers.get()};
    const Rcpp::IntegerVector labels = labels_of(whole, state, rows, pool);
    return made_in_r([&] {
      Rcpp::List out =
          Rcpp::List::create(_["state"] = state_to_r(state.globals), _["elbo"] = state.elbo,
                             _["terms"] = terms_to_r(elbo_terms(whole, state.total, state.globals)),

                             _["labels"] = labels, _["sizes"] = state.total.sizes());
      if (is_update(start)) out.push_back(origins_to_r(fit.progress()), "origins");
      add_run(run, out);
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
      if (!Rf_isNull(checkpoints.kept())) out.push_back(checkpoints.kept(), "progress");
      return out;
    });
  });
}
