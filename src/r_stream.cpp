// Entries of truncation-free learning.
#include <numeric>

#include "inference/source.h"
#include "mixtures/truncation_free.h"
#include "r_stream_run.h"
#include "topics/topic_model.h"
#include "topics/truncation_free_topics.h"

using namespace bnpvi;

namespace {

using Numbers = Rcpp::NumericVector;
using Rcpp::_;

mixtures::RunningClusters clusters_from_r(const Rcpp::List& list, Index p) {
  mixtures::RunningClusters c;
  c.t = Rcpp::as<Vec>(list["t"]);
  c.identity = identities_from_r(list);
  require(static_cast<Index>(c.t.size()) == c.k() * p,
          "a stream's clusters have not the statistics of the model");
  c.next_id = static_cast<std::uint64_t>(Rcpp::as<double>(list["next_id"]));
  c.batches = static_cast<std::uint64_t>(Rcpp::as<double>(list["batches"]));
  c.seen = Rcpp::as<double>(list["seen"]);
  c.untended = Rcpp::as<double>(list["untended"]);
  c.concentration = Rcpp::as<double>(list["concentration"]);
  c.recent = Rcpp::as<Vec>(list["recent"]);
  require(c.recent.size() % static_cast<std::size_t>(p) == 0, "a stream's latest rows are not whole");
  return c;
}

Rcpp::List clusters_to_r(const mixtures::RunningClusters& c) {
  const Rcpp::List known = identities_to_r(c.identity);
  return Rcpp::List::create(_["t"] = Numbers(c.t.begin(), c.t.end()), _["id"] = known["id"],
                            _["born_at"] = known["born_at"], _["last_seen"] = known["last_seen"],
                            _["lasting"] = known["lasting"], _["next_id"] = static_cast<double>(c.next_id),
                            _["batches"] = static_cast<double>(c.batches), _["seen"] = c.seen,
                            _["untended"] = c.untended, _["concentration"] = c.concentration,
                            _["recent"] = Numbers(c.recent.begin(), c.recent.end()));
}

// The clusters as the globals of a mixture, so that all that reads a fit reads them: statistics of K
// clusters, with empty ones where the prior fixes K. No entropy: rows are assigned to one cluster each.
Globals globals_of(const mixtures::RunningClusters& c, const RModel& model) {
  const Index p = model.obs->n_features(), k = std::max(c.k(), model.alloc->fixed_k());
  Globals out;
  out.effective = Summary(model.alloc->shape(*model.obs), k);
  std::copy(c.t.begin(), c.t.begin() + c.k() * p, out.effective.obs.edit().begin());
  return out;
}

topics::RunningTopics topics_from_r(const Rcpp::List& list, Index p) {
  topics::RunningTopics c;
  c.t = Rcpp::as<Vec>(list["t"]);
  c.tables = Rcpp::as<Vec>(list["tables"]);
  c.identity = identities_from_r(list);
  require(static_cast<Index>(c.t.size()) == c.k() * p && static_cast<Index>(c.tables.size()) == c.k(),
          "a stream's topics have not the statistics of the model");
  c.next_id = static_cast<std::uint64_t>(Rcpp::as<double>(list["next_id"]));
  c.batches = static_cast<std::uint64_t>(Rcpp::as<double>(list["batches"]));
  c.seen = Rcpp::as<double>(list["seen"]);
  c.untended = Rcpp::as<double>(list["untended"]);
  const Vec of_alpha = Rcpp::as<Vec>(list["alpha_evidence"]);
  require(of_alpha.size() == 2, "a stream's evidence of alpha is not two numbers");
  c.gamma = Rcpp::as<double>(list["gamma"]);
  c.alpha = Rcpp::as<double>(list["alpha"]);
  c.alpha_shape = of_alpha[0];
  c.alpha_rate = of_alpha[1];
  const Rcpp::List recent = list["recent"];
  c.recent = {Rcpp::as<std::vector<int>>(recent["length"]), Rcpp::as<std::vector<int>>(recent["word"]),
              Rcpp::as<std::vector<int>>(recent["topic"])};
  Index tokens = 0;
  for (int n : c.recent.length) tokens += n;
  require(tokens == static_cast<Index>(c.recent.word.size()) && c.recent.word.size() == c.recent.topic.size(),
          "a stream's latest documents are not whole");
  for (int w : c.recent.word) require(w >= 0 && w < p - 1, "a stream's latest documents have other terms");
  for (int j : c.recent.topic) require(j >= -1 && j < c.k(), "a stream's latest documents have other topics");
  return c;
}

Rcpp::List topics_to_r(const topics::RunningTopics& c) {
  const Rcpp::List known = identities_to_r(c.identity);
  return Rcpp::List::create(
      _["t"] = Numbers(c.t.begin(), c.t.end()), _["tables"] = c.tables, _["id"] = known["id"],
      _["born_at"] = known["born_at"], _["last_seen"] = known["last_seen"], _["lasting"] = known["lasting"],
      _["next_id"] = static_cast<double>(c.next_id), _["batches"] = static_cast<double>(c.batches),
      _["seen"] = c.seen, _["untended"] = c.untended, _["gamma"] = c.gamma, _["alpha"] = c.alpha,
      _["alpha_evidence"] = Vec{c.alpha_shape, c.alpha_rate},
      _["recent"] = Rcpp::List::create(_["length"] = c.recent.length, _["word"] = c.recent.word,
                                       _["topic"] = c.recent.topic));
}

// The topics as globals, with empty ones where the prior fixes K.
Globals globals_of(const topics::RunningTopics& c, Vec weights, const RModel& model) {
  const Index p = model.obs->n_features(), k = std::max(c.k(), model.alloc->fixed_k());
  Summary total(model.alloc->shape(*model.obs), k);
  std::copy(c.t.begin(), c.t.begin() + c.k() * p, total.obs.edit().begin());
  weights.resize(static_cast<std::size_t>(k + 1), 0.0);
  return dynamic_cast<const topics::TopicAlloc&>(*model.alloc).globals_at(std::move(total), weights);
}

}  // namespace

// Goes on from `clusters` with the rows of `data`; options of run_batches(). With all_rows rows get labels.
// [[Rcpp::export]]
Rcpp::List engine_stream(Rcpp::List data, Rcpp::List model, Rcpp::List clusters, Rcpp::List options,
                         SEXP progress) {
  return entry([&] {
    RData rdata(data);
    const RModel rmodel(model);
    const ObsModel& obs = *rmodel.obs;
    require(obs.n_cells() == 0, "rows with expected cells cannot be learned from one at a time");
    const Dataset& view = rdata.view_for(obs);
    require(view.weight == nullptr && view.classes == nullptr, "a stream's rows have no weights or labels");
    const ListFields o(options);
    RMonitor monitor(Rcpp::Nullable<Rcpp::Function>(progress), o.flag("keep_interrupted"));
    RPool pool(o.integer("threads"), monitor);
    mixtures::RunningClusters running = clusters_from_r(clusters, obs.n_features());
    mixtures::TruncationFreeOptions how;
    how.sweeps = o.integer("sweeps");
    how.most_clusters = o.integer("k_max");
    how.merge = o.flag("merge");
    how.split = o.flag("split");
    how.fades = fades(o);
    mixtures::TruncationFree learner(obs, make_partition_prior(ListFields(Rcpp::List(model["prior"]))), how,
                                     static_cast<std::uint64_t>(o.number("seed")), running, pool);
    const std::vector<Index> rows = modelled_rows(view.starts, obs.lag());
    const StreamRun run =
        run_batches(o, static_cast<Index>(rows.size()), learner, running, pool,
                    [&](const std::vector<Index>& units, double keep, bool fresh) {
                      std::vector<Index> of_data;
                      for (Index i : units) of_data.push_back(rows[i]);
                      const RowFeatures batch(obs, view, of_data);
                      double score = NA_REAL;
                      if (fresh)
                        score = (learner.log_predictive(batch) + sum_log_base(obs, view, of_data, &pool)) /
                                static_cast<double>(batch.n());
                      learner.learn(batch, keep, fresh);
                      return score;
                    });
    const bool all_rows = o.flag("all_rows");
    std::vector<int> labels;
    if (all_rows) labels = learner.most_probable(RowFeatures(obs, view));
    const Globals globals = globals_of(running, rmodel);
    return made_in_r([&] {
      Rcpp::IntegerVector label_of(all_rows ? static_cast<int>(view.n) : 0, NA_INTEGER);
      for (std::size_t i = 0; i < labels.size(); ++i) label_of[rows[i]] = 1 + labels[i];
      return Rcpp::List::create(_["clusters"] = clusters_to_r(running), _["state"] = state_to_r(globals),
                                _["records"] = records_to_r(run.records),
                                _["departed"] = departed_to_r(learner.departed()), _["labels"] = label_of,
                                _["capped"] = learner.capped(), _["interrupted"] = run.interrupted);
    });
  });
}

// Goes on from `topics` with documents of counts; options of run_batches().
// [[Rcpp::export]]
Rcpp::List engine_topic_stream(Rcpp::List data, Rcpp::List model, Rcpp::List topics, Rcpp::List options,
                               SEXP progress) {
  return entry([&] {
    RData rdata(data);
    const RModel rmodel(model);
    const ObsModel& obs = *rmodel.obs;
    const Dataset& view = rdata.view_for(obs);
    require(obs.tokens() && view.sparse(), "a stream of documents needs counts");
    require(view.weight == nullptr, "a stream's documents have no weights");
    const ListFields o(options);
    RMonitor monitor(Rcpp::Nullable<Rcpp::Function>(progress), o.flag("keep_interrupted"));
    RPool pool(o.integer("threads"), monitor);
    topics::RunningTopics running = topics_from_r(topics, obs.n_features());
    topics::TruncationFreeTopicsOptions how;
    how.sweeps = o.integer("sweeps");
    how.most_topics = o.integer("k_max");
    how.merge = o.flag("merge");
    how.fades = fades(o);
    topics::TruncationFreeTopics learner(obs, make_topic_prior(ListFields(Rcpp::List(model["prior"]))), how,
                                         static_cast<std::uint64_t>(o.number("seed")), running, pool);
    std::vector<Index> all(static_cast<std::size_t>(view.n));
    std::iota(all.begin(), all.end(), Index{0});
    const MemorySource source(view, {all});
    const StreamRun run = run_batches(
        o, view.n, learner, running, pool, [&](const std::vector<Index>& units, double keep, bool fresh) {
          std::vector<Place> places;
          for (Index d : units) places.push_back({0, d});
          const Sample batch = take_groups(source, places);
          const topics::Tokens tokens(batch.data);
          double score = NA_REAL;
          if (fresh && tokens.n() > 0)
            score = learner.log_predictive(batch.data) / static_cast<double>(tokens.n());
          learner.learn(tokens, keep, fresh);
          return score;
        });
    const Globals globals = globals_of(running, learner.mean_weights(), rmodel);
    return made_in_r([&] {
      return Rcpp::List::create(_["clusters"] = topics_to_r(running), _["state"] = state_to_r(globals),
                                _["records"] = records_to_r(run.records),
                                _["departed"] = departed_to_r(learner.departed()),
                                _["capped"] = learner.capped(), _["interrupted"] = run.interrupted);
    });
  });
}
