#include <algorithm>

#include "audit.h"
#include "r_convert.h"
#include "r_topics.h"
#include "start.h"

using namespace bnpvi;

namespace {

LearnOptions learn_options(const Rcpp::List& control) {
  const Rcpp::List list = control["moves"];
  const ListFields c(control), moves(list);
  LearnOptions o;
  o.max_laps = c.integer("max_laps");
  o.tol = c.number("tol");
  const Vec rate = c.numbers("learning_rate");
  o.delay = rate.at(0);
  o.power = rate.at(1);
  o.moves.birth = moves.flag("birth");
  o.moves.merge = moves.flag("merge");
  o.moves.remove = moves.flag("delete");
  o.moves.reorder = moves.flag("reorder");
  o.moves.adopt = list.containsElementNamed("adopt") && moves.flag("adopt");
  o.moves.max_births = moves.integer("max_births");
  o.moves.birth_size = moves.integer("birth_size");
  o.moves.max_deletes = moves.integer("max_deletes");
  o.moves.max_merges = moves.integer("max_merges");
  return o;
}

std::vector<std::vector<Index>> batches_of_units(const Dataset& data, const RModel& model, Index n_batches,
                                                 unsigned long long seed) {
  const std::vector<Index> units = all_units(data, model);
  const Index n = static_cast<Index>(units.size());
  auto batches = deal_batches(n, std::clamp<Index>(n_batches, 1, std::max<Index>(n, 1)), seed);
  for (auto& batch : batches)
    for (Index& unit : batch) unit = units[unit];
  return batches;
}

State start_by(const std::string& init, const Problem& problem, Index k, Index restart, Pool& pool) {
  const auto number = static_cast<std::uint64_t>(restart);
  k = std::max(k, problem.alloc.fixed_k());
  if (init == "blocks") return start_from_globals(problem, start_from_blocks(problem, k, number));
  if (init == "anchor") return start_from_globals(problem, start_from_anchors(problem, k, number, pool));
  const Index rounds = init == "random" ? 0 : init == "kmeans" ? 100 : 10;
  return start_from_globals(problem, start_from_seeds(problem, k, init != "random", rounds, number, pool));
}

// Anchor words or clusters of documents: the one with the higher ELBO after ten laps goes on from there. Of
// 30 pairs of fits with a fixed K, 29 were in the same order after sixty laps as after ten.
State start_by_race(const Problem& problem, Index k, LearnOptions options, Index restart, Pool& pool) {
  options.max_laps = std::min<Index>(10, options.max_laps);
  options.moves = MoveOptions();
  options.learn_prior = false;
  State best;
  for (const char* init : {"anchor", "bregman"}) {
    if (problem.audit) problem.audit->restart();
    State state = learn_memoized(problem, start_by(init, problem, k, restart, pool), options, pool).state;
    if (best.batch.empty() || state.elbo > best.elbo) best = std::move(state);
  }
  return best;
}

State starting_state(const Problem& problem, const RModel& model, const Rcpp::List& control, SEXP start,
                     Index restart, Pool& pool) {
  if (!Rf_isNull(start)) {
    const Rcpp::List s(start);
    if (s.containsElementNamed("state")) {
      State out = start_from_globals(problem, state_from_r(Rcpp::List(s["state"]), model));
      if (s.containsElementNamed("documents"))
        out.earlier = documents_from_r(s["documents"], problem.batches);
      return out;
    }
    if (s.containsElementNamed("labels")) {
      const Rcpp::IntegerVector labels(static_cast<SEXP>(s["labels"]));
      return start_from_responsibilities(problem, GivenResponsibilities(labels.begin()),
                                         Rcpp::as<int>(s["k"]), pool);
    }
    const Rcpp::NumericMatrix resp(static_cast<SEXP>(s["resp"]));
    return start_from_responsibilities(problem, {resp.begin(), problem.data.n}, resp.ncol(), pool);
  }
  const ListFields c(control);
  const std::string init = c.text("init");
  if (init == "best")
    return start_by_race(problem, c.integer("k_init"), learn_options(control), restart, pool);
  return start_by(init, problem, c.integer("k_init"), restart, pool);
}

// Most probable cluster of every row, by chunk.
class Labels final : public ResponsibilitySink {
 public:
  explicit Labels(Index n) : label_(static_cast<std::size_t>(n), NA_INTEGER) {}
  void begin(Index) override {}
  void visit(Index, const Index* rows, const Responsibilities& r, FeatureBlock&) override {
    for (Index i = 0; i < r.n; ++i) {
      Index best = 0;
      for (Index l = 1; l < r.width; ++l)
        if (r.value[i * r.width + l] > r.value[i * r.width + best]) best = l;
      label_[rows[i]] = 1 + static_cast<int>(r.sparse ? r.cluster[i * r.width + best] : best);
    }
  }
  const std::vector<int>& get() const { return label_; }

 private:
  std::vector<int> label_;
};

Rcpp::DataFrame trace_to_r(const std::vector<LapRecord>& trace) {
  const int n = static_cast<int>(trace.size());
  Rcpp::IntegerVector lap(n), k(n), births(n), merges(n), deletes(n), bt(n), mt(n), dt(n);
  Rcpp::NumericVector elbo(n), seconds(n);
  for (int i = 0; i < n; ++i) {
    const LapRecord& r = trace[i];
    lap[i] = static_cast<int>(r.lap);
    elbo[i] = r.elbo;
    k[i] = static_cast<int>(r.k);
    births[i] = static_cast<int>(r.births);
    merges[i] = static_cast<int>(r.merges);
    deletes[i] = static_cast<int>(r.deletes);
    bt[i] = static_cast<int>(r.births_tried);
    mt[i] = static_cast<int>(r.merges_tried);
    dt[i] = static_cast<int>(r.deletes_tried);
    seconds[i] = r.seconds;
  }
  using Rcpp::_;
  return Rcpp::DataFrame::create(_["lap"] = lap, _["elbo"] = elbo, _["k"] = k, _["births"] = births,
                                 _["merges"] = merges, _["deletes"] = deletes, _["births_tried"] = bt,
                                 _["merges_tried"] = mt, _["deletes_tried"] = dt, _["seconds"] = seconds);
}

}  // namespace

// [[Rcpp::export]]
Rcpp::List engine_fit(Rcpp::List data, Rcpp::List model, Rcpp::List control, SEXP start, SEXP progress) {
  return entry([&] {
    const RData rdata(data);
    const RModel rmodel(model);
    const ListFields c(control);
    const auto seed = static_cast<unsigned long long>(c.number("seed"));
    RMonitor monitor{Rcpp::Nullable<Rcpp::Function>(progress)};
    Pool pool(c.integer("threads"), monitor);
    const LearnOptions options = learn_options(control);
    const Index restarts = Rf_isNull(start) ? c.integer("restarts") : 1;

    std::unique_ptr<Audit> audit;
    if (control.containsElementNamed("audit") && c.flag("audit")) audit = std::make_unique<Audit>();
    Outcome best;
    std::vector<std::vector<Index>> batches;  // of the best
    for (Index restart = 0; restart < restarts; ++restart) {
      const unsigned long long key = seed + 0x9e3779b97f4a7c15ULL * static_cast<unsigned long long>(restart);
      const Problem problem{rdata.view(),
                            *rmodel.obs,
                            *rmodel.alloc,
                            batches_of_units(rdata.view(), rmodel,
                                             c.text("algorithm") == "full" ? 1 : c.integer("batches"), key),
                            c.integer("sparsity"),
                            key,
                            audit.get(),
                            c.integer("candidates"),
                            &pool};
      if (audit) audit->restart();
      State state = starting_state(problem, rmodel, control, start, restart, pool);
      Outcome outcome = c.text("algorithm") == "stochastic"
                            ? learn_stochastic(problem, std::move(state), options, pool)
                            : learn_memoized(problem, std::move(state), options, pool);
      if (restart > 0 && outcome.state.elbo <= best.state.elbo) continue;
      best = std::move(outcome);
      batches = problem.batches;
    }

    const ObsModel& obs = best.obs ? *best.obs : *rmodel.obs;
    const Problem whole{rdata.view(),          obs,
                        *rmodel.alloc,         batches_of_units(rdata.view(), rmodel, 1, 0),
                        c.integer("sparsity"), seed};
    const Summary& s = best.state.globals.effective;
    const Weights weights = make_weights(obs, s.obs.data(), s.k);
    Labels labels(rdata.view().n);
    std::shared_ptr<const Neighbours> neighbours;
    for (std::size_t b = 0; b < batches.size(); ++b) {
      LocalInput in{whole.data,         batches[b], whole.obs,   weights,
                    best.state.globals, pool,       whole.width, &labels};
      in.candidates = c.integer("candidates");
      if (!rmodel.alloc->grouped() || best.state.total.shape.pairs)
        in.memory = best.state.batch[b]->memory.get();
      if (in.memory && !neighbours) neighbours = rmodel.alloc->neighbours(in);
      in.neighbours = neighbours.get();
      rmodel.alloc->local_step(in);
    }

    using Rcpp::_;
    Rcpp::List out =
        Rcpp::List::create(_["state"] = state_to_r(best.state.globals), _["elbo"] = best.state.elbo,
                           _["terms"] = terms_to_r(elbo_terms(whole, best.state.total, best.state.globals)),
                           _["trace"] = trace_to_r(best.trace), _["converged"] = best.converged,
                           _["reason"] = best.reason, _["laps"] = static_cast<int>(best.trace.size()),
                           _["labels"] = labels.get(), _["sizes"] = best.state.total.sizes());
    const NamedArrays learned = obs.learned_fields();
    if (!learned.empty()) out.push_back(arrays_to_r(learned), "learned");
    const Rcpp::RObject documents = document_counts_to_r(best.state, batches);
    if (!documents.isNULL()) out.push_back(documents, "documents");
    if (audit) {
      if (best.state.assignments) {
        const Assignments& q = *best.state.assignments;
        Rcpp::NumericMatrix resp(static_cast<int>(q.n), static_cast<int>(q.k));
        std::copy(q.r.begin(), q.r.end(), resp.begin());
        out.push_back(resp, "responsibilities");
      }
      out.push_back(
          Rcpp::NumericVector::create(
              _["checks"] = static_cast<double>(audit->checks), _["elbo"] = audit->elbo,
              _["statistics"] = audit->statistics, _["entropy"] = audit->entropy, _["sums"] = audit->sums,
              _["smallest_gain"] = audit->smallest_gain, _["moves"] = static_cast<double>(audit->moves),
              _["foreseen"] = static_cast<double>(audit->foreseen), _["gain"] = audit->gain,
              _["weights"] = static_cast<double>(audit->weights)),
          "audit");
    }
    return out;
  });
}
