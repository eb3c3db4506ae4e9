// Mixtures, topic models and chains: their fits.
#include <algorithm>
#include <cmath>
#include <optional>

#include "inference/learn/batch_work.h"
#include "inference/learn/check_progress.h"
#include "inference/learn/labels_watch.h"
#include "inference/learn/rename.h"
#include "inference/learn/visit_batches.h"
#include "inference/start/altered.h"
#include "inference/start/known_clusters.h"
#include "inference/start/start.h"
#include "inference/start/start_policy.h"
#include "models/registry.h"
#include "r_convert.h"
#include "r_family.h"
#include "r_hmm.h"
#include "r_source.h"
#include "r_topics.h"
#include "r_workers.h"

using namespace bnpvi;

namespace {

// The class that owns each cluster of a start; empty if no row has a label.
std::vector<int> owners_of_start(const Rcpp::List& start, Index k) {
  if (!start.containsElementNamed("owner")) return {};
  const auto owner = Rcpp::as<std::vector<int>>(start["owner"]);
  require(static_cast<Index>(owner.size()) == k, "start$owner has not one class for each cluster");
  return owner;
}

// The state in which a fit begins. Where the states of a chain are not alike (has_places()),
// responsibilities of rows that were found independently of each other may belong to no q(z). Then only the
// globals are used, and no batch counts as visited. Clusters get their names.
State begun_at(const Problem& problem, State state) {
  const auto* hmm = alloc_as<chains::HmmAlloc>(problem.alloc);
  if (hmm && hmm->has_places()) return start_from_globals(problem, std::move(state.globals));
  give_names(problem, state);
  return state;
}

State starting_state(const Problem& problem, const RModel& model, const Rcpp::List& control, const Start& at,
                     SEXP start, Pool& pool) {
  if (!Rf_isNull(start)) {
    const Rcpp::List s(start);
    const Index n = problem.source.shape().n, fixed_k = problem.alloc.fixed_k();
    if (s.containsElementNamed("state")) {
      Globals globals = state_from_r(Rcpp::List(s["state"]), model);
      if (s.containsElementNamed("obs")) {
        const auto from = obs_beside(*model.alloc, ListFields(Rcpp::List(s["obs"])));
        for (Index j = 0; j < globals.effective.k; ++j)
          units_of(*model.obs).re_express(*from, globals.effective.edit_t(j));
      }
      if (const NamedClusters* names = model.obs->capabilities().names)
        if (fixed_k == 0 && !globals.effective.names.any())
          globals.effective.append(n_lacking_for_names(*names, globals.effective));
      give_names(*model.obs, globals.effective);
      if (static_cast<Index>(globals.u.size()) < globals.effective.k && problem.alloc.has_sticks())
        globals = problem.alloc.global_step(globals.effective, {});
      else if (lacks_pairs(problem.alloc, globals.u, globals.effective.k))
        globals = problem.alloc.global_step(globals.effective, globals);
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
      return begun_at(problem,
                      start_from_responsibilities(problem, {labels.begin(), k}, pool, owners_of_start(s, k)));
    }
    const Rcpp::NumericMatrix resp(static_cast<SEXP>(s["resp"]));
    require(resp.nrow() == n && resp.ncol() > 0 && (fixed_k == 0 || resp.ncol() == fixed_k),
            "start$resp has not n rows and a column for each cluster");
    return begun_at(problem, start_from_responsibilities(problem, {resp.begin(), resp.nrow(), resp.ncol()},
                                                         pool, owners_of_start(s, resp.ncol())));
  }
  const AskedStart asked = asked_start(ListFields(control), at);
  return start_by(asked.init, problem, asked.k, learn_options(control), pool);
}

// What the last visit of a fit finds.
struct Closing {
  Rcpp::IntegerVector labels;  // for each row its most probable cluster; NA: no likelihood of its own
  Globals globals;             // of the fit, with the sums of closing features (registry.h)
};

Closing close(const Problem& problem, const State& state, const std::vector<Index>& features,
              const FitData& data, Pool& pool) {
  Rcpp::IntegerVector labels =
      made_in_r([&] { return Rcpp::IntegerVector(static_cast<int>(problem.source.shape().n), NA_INTEGER); });
  const std::unique_ptr<Visitor> visitor = problem.alloc.visitor();
  const auto at = globals_for_closing(problem, state.globals, features);
  Globals globals = state.globals;
  for (const std::vector<Index>& wave : in_waves(all_batches(problem.source), problem.wave)) {
    std::vector<std::unique_ptr<VisitWork>> work;
    for (Index b : wave) {
      const auto memory = remembers(problem.alloc) ? nullptr : state.batch[b]->memory;
      visitor->prepare(at->globals, memory.get(), pool);
      work.push_back(std::make_unique<VisitWork>(b, at, *visitor, memory, std::make_unique<LabelsWatch>(),
                                                 false, nullptr));
    }
    do_work(problem, pool, work);
    for (const auto& done : work) {
      static_cast<const LabelsWatch&>(*done->watch)
          .put_into(labels.begin(), *problem.source.open(done->batch));
      for (Index j = 0; j < state.k() && !features.empty(); ++j)
        for (Index i : features) globals.effective.edit_t(j)[i] += done->found.t(j)[i];
    }
  }
  if (data.uncounted().empty()) return {labels, globals};
  const Batch rest{*data.in_memory(), data.uncounted()};
  VisitWork work(0, at, *visitor, nullptr, std::make_unique<LabelsWatch>(), false, nullptr);
  work.run(problem, rest, pool);
  static_cast<const LabelsWatch&>(*work.watch).put_into(labels.begin(), rest);
  return {labels, globals};
}

Rcpp::NumericMatrix assignments_to_r(const Assignments& q) {
  Rcpp::NumericMatrix out(static_cast<int>(q.n), static_cast<int>(q.k));
  std::copy(q.r.begin(), q.r.end(), out.begin());
  return out;
}

// MoveMemory::origin of the clusters, from 1.
Rcpp::IntegerVector origins_to_r(const Progress& p) {
  Rcpp::IntegerVector out(static_cast<int>(p.state.k()));
  for (int j = 0; j < out.size(); ++j) out[j] = static_cast<int>(p.moves.origin(j)) + 1;
  return out;
}

class Clusters final : public RFamily {
 public:
  explicit Clusters(const FitCall& call)
      : call_(call),
        sparsity_{fields_.integer("sparsity"), fields_.integer("candidates")},
        given_(call.model, sparsity_),
        rows_(call.data, call.control, given_, is_update(call.start)),
        options_(learn_options(call.control)),
        wave_(fields_.has("wave") ? fields_.integer("wave") : 1),
        workers_(hired_workers(call.control, rows_)) {}

  Learned begin(const Start& start) override {
    const auto view = view_of(start.seed, {});
    const bool from_given = start.seed == options_.seed || Rf_isNull(call_.start) ||
                            !Rcpp::List(call_.start).containsElementNamed("first_only");
    State state = starting_state(*view->problem, given_, call_.control, start,
                                 from_given ? call_.start : R_NilValue, call_.pool);
    return {fit_of(view, bnpvi::begin(*view->problem, std::move(state))), {}};
  }

  std::unique_ptr<Fit> read(const Start& start, Reader& in) override {
    Progress from = Progress::read(in);
    const auto view = view_of(start.seed, from.learned);
    require_progress(*view->problem, from);
    return fit_of(view, std::move(from));
  }

  // Births must be able to make up for the clusters that are joined.
  bool alters() const override {
    return given_.alloc->fixed_k() == 0 && options_.moves.birth && fields_.text("algorithm") != "stochastic";
  }

  Learned alter(const Start& start, const Fit& best) override {
    const Progress& from = static_cast<const SharedFit&>(best).progress();
    const auto view = view_of(start.seed, from.learned);
    return {fit_of(view, altered(*view->problem, from, call_.pool)), {}};
  }

  Rcpp::List result(const Restarted& run) override {
    const auto& fit = static_cast<const SharedFit&>(*run.best.fit);
    const State& state = fit.state();
    const std::shared_ptr<const Source> source = rows_.dealt(fit.problem().seed);
    const ObsModel& obs = fit.problem().obs;
    const AllocModel& alloc = fit.problem().alloc;
    const Problem whole{*source, obs, alloc, options_.seed, nobody, &call_.pool, wave_, workers_.get()};
    const std::vector<Index> features = closing_features(ListFields(Rcpp::List(call_.model["obs"])));
    const Closing closing = close(whole, state, features, rows_, call_.pool);
    using Rcpp::_;
    return made_in_r([&] {
      Rcpp::List out =
          Rcpp::List::create(_["state"] = state_to_r(closing.globals), _["elbo"] = state.elbo,
                             _["terms"] = terms_to_r(elbo_terms(whole, state.total, state.globals)),
                             _["labels"] = closing.labels, _["sizes"] = state.total.sizes());
      if (is_update(call_.start)) out.push_back(origins_to_r(fit.progress()), "origins");
      const NamedArrays learned = prior_of(obs).learned_fields(),
                        concentrations = concentrations_of(alloc).learned_fields();
      if (!learned.empty()) out.push_back(arrays_to_r(learned), "learned");
      if (!concentrations.empty()) out.push_back(arrays_to_r(concentrations), "concentrations");
      const Rcpp::RObject documents = document_counts_to_r(state, *source);
      if (!documents.isNULL()) out.push_back(documents, "documents");
      if (const Index open = most_open(*source)) out.push_back(static_cast<int>(open), "most_open");
      if (state.assignments) out.push_back(assignments_to_r(*state.assignments), "responsibilities");
      return out;
    });
  }

 private:
  // What a restart has for itself: its batches, and models with these learned fields.
  struct View {
    std::unique_ptr<const RModel> own;
    std::shared_ptr<const Source> source;
    std::optional<Problem> problem;
  };

  std::shared_ptr<View> view_of(std::uint64_t seed, const NamedArrays& learned) {
    auto view = std::make_shared<View>();
    if (!learned.empty()) view->own = std::make_unique<RModel>(call_.model, sparsity_, learned);
    const RModel& at = view->own ? *view->own : given_;
    view->source = rows_.dealt(seed);
    call_.observer.restarted();
    view->problem.emplace(
        Problem{*view->source, *at.obs, *at.alloc, seed, call_.observer, &call_.pool, wave_, workers_.get()});
    return view;
  }

  std::unique_ptr<Fit> fit_of(const std::shared_ptr<View>& view, Progress from) {
    const bool stochastic = fields_.text("algorithm") == "stochastic";
    auto fit = stochastic ? stochastic_fit(*view->problem, std::move(from), options_, call_.pool)
                          : memoized_fit(*view->problem, std::move(from), options_, call_.pool);
    fit->hold(view);
    return fit;
  }

  const FitCall call_;
  const ListFields fields_{call_.control};
  const Sparsity sparsity_;
  const RModel given_;
  const FitData rows_;
  const LearnOptions options_;
  const Index wave_;
  const std::unique_ptr<RWorkers> workers_;
};

}  // namespace

std::unique_ptr<RFamily> bnpvi::family_of_clusters(const FitCall& call) {
  return std::make_unique<Clusters>(call);
}
