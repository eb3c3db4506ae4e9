// Entries of truncation-free learning.
#include <numeric>

#include "inference/data/source.h"
#include "mixtures/truncation_free_rows.h"
#include "r_stream_run.h"
#include "topics/model/topic_model.h"
#include "topics/streams/truncation_free_topics.h"

using namespace bnpvi;

namespace {

using Numbers = Rcpp::NumericVector;
using Rcpp::_;

mixtures::RunningClusters clusters_from_r(const Rcpp::List& list, Index p) {
  mixtures::RunningClusters c;
  read_running(list, p, c);
  c.concentration = Rcpp::as<double>(list["concentration"]);
  c.recent = Rcpp::as<Vec>(list["recent"]);
  require(c.recent.size() % static_cast<std::size_t>(p) == 0, "a stream's latest rows are not whole");
  return c;
}

Rcpp::List clusters_to_r(const mixtures::RunningClusters& c) {
  Rcpp::List out = running_to_r(c);
  out["concentration"] = c.concentration;
  out["recent"] = Numbers(c.recent.begin(), c.recent.end());
  return out;
}

topics::RunningTopics topics_from_r(const Rcpp::List& list, Index p, bool tokens) {
  topics::RunningTopics c;
  read_running(list, p, c);
  c.tables = Rcpp::as<Vec>(list["tables"]);
  const Vec of_alpha = Rcpp::as<Vec>(list["alpha_evidence"]);
  require(static_cast<Index>(c.tables.size()) == c.k() && of_alpha.size() == 2,
          "a stream's topics have not one number of tables each, or alpha not two of evidence");
  c.gamma = Rcpp::as<double>(list["gamma"]);
  c.alpha = Rcpp::as<double>(list["alpha"]);
  c.alpha_shape = of_alpha[0];
  c.alpha_rate = of_alpha[1];
  const Rcpp::List recent = list["recent"];
  c.recent = {Rcpp::as<std::vector<int>>(recent["length"]), Rcpp::as<Vec>(recent["mass"]),
              Rcpp::as<std::vector<int>>(recent["word"]),   Rcpp::as<std::vector<int>>(recent["topic"]),
              Rcpp::as<std::vector<int>>(recent["tables"]), Rcpp::as<Vec>(recent["phi"])};
  Index n = 0;
  for (int n_of_document : c.recent.length) n += n_of_document;
  const auto of_tokens = static_cast<Index>(c.recent.word.size()),
             of_rows = static_cast<Index>(c.recent.phi.size());
  require(n == c.recent.n() && n == static_cast<Index>(c.recent.tables.size()) &&
              c.recent.mass.size() == c.recent.length.size() && of_tokens == (tokens ? n : 0) &&
              of_rows == (tokens ? 0 : n * p),
          "a stream's latest documents are not whole");
  for (int w : c.recent.word) require(w >= 0 && w < p - 1, "a stream's latest documents have other terms");
  for (int j : c.recent.topic) require(j >= -1 && j < c.k(), "a stream's latest documents have other topics");
  return c;
}

Rcpp::List topics_to_r(const topics::RunningTopics& c) {
  Rcpp::List out = running_to_r(c);
  out["tables"] = c.tables;
  out["gamma"] = c.gamma;
  out["alpha"] = c.alpha;
  out["alpha_evidence"] = Vec{c.alpha_shape, c.alpha_rate};
  out["recent"] =
      Rcpp::List::create(_["length"] = c.recent.length, _["mass"] = c.recent.mass, _["word"] = c.recent.word,
                         _["topic"] = c.recent.topic, _["tables"] = c.recent.tables,
                         _["phi"] = Numbers(c.recent.phi.begin(), c.recent.phi.end()));
  return out;
}

}  // namespace

// Continues from `clusters` with the rows of `data`; for options see run_batches(). With all_rows, labels
// are returned.
// [[Rcpp::export]]
Rcpp::List engine_stream(Rcpp::List data, Rcpp::List model, Rcpp::List clusters, Rcpp::List options,
                         SEXP progress) {
  return entry([&] {
    StreamCall call(data, model, options, progress);
    const ObsModel& obs = call.obs();
    const Dataset& view = call.data;
    const ListFields& o = call.options;
    require(!obs.capabilities().cells, "rows with expected cells cannot be learned from one at a time");
    require(view.weight == nullptr && view.classes == nullptr, "a stream's rows have no weights or labels");
    mixtures::RunningClusters running = clusters_from_r(clusters, obs.n_features());
    mixtures::TruncationFreeRows learner(obs, make_partition_prior(call.prior), truncation_free_options(o),
                                         call.seed, running, call.pool);
    const std::vector<Index> rows = modelled_rows(view.starts, obs.capabilities().lag);
    const StreamRun run = run_batches(
        o, static_cast<Index>(rows.size()), learner, call.pool,
        [&](const std::vector<Index>& units, double keep, bool fresh) {
          std::vector<Index> of_data;
          for (Index i : units) of_data.push_back(rows[i]);
          const RowFeatures batch(obs, view, of_data);
          double score = NA_REAL;
          if (fresh)
            score = (learner.log_predictive(batch) + sum_log_base(obs, view, of_data, &call.pool)) /
                    static_cast<double>(batch.n());
          learner.learn(batch, keep, fresh);
          return score;
        });
    const bool all_rows = o.flag("all_rows");
    std::vector<int> labels;
    if (all_rows) labels = learner.most_probable(RowFeatures(obs, view));
    return made_in_r([&] {
      Rcpp::List out =
          stream_answer(clusters_to_r(running), running_globals(running, call.rmodel), run, learner);
      Rcpp::IntegerVector label_of(all_rows ? static_cast<int>(view.n) : 0, NA_INTEGER);
      for (std::size_t i = 0; i < labels.size(); ++i) label_of[rows[i]] = 1 + labels[i];
      out["labels"] = label_of;
      return out;
    });
  });
}

// Continues from `topics` with documents of counts or rows; for options see run_batches().
// [[Rcpp::export]]
Rcpp::List engine_topic_stream(Rcpp::List data, Rcpp::List model, Rcpp::List topics, Rcpp::List options,
                               SEXP progress) {
  return entry([&] {
    StreamCall call(data, model, options, progress);
    const ObsModel& obs = call.obs();
    const Dataset& view = call.data;
    const ListFields& o = call.options;
    require(!obs.capabilities().tokens || view.sparse(), "documents of tokens need counts");
    require(!obs.capabilities().cells, "rows with expected cells cannot be learned from one at a time");
    require(view.weight == nullptr, "a stream's documents have no weights");
    topics::RunningTopics running =
        topics_from_r(topics, obs.n_features(), obs.capabilities().tokens != nullptr);
    topics::TruncationFreeTopics learner(obs, make_topic_prior(call.prior), truncation_free_options(o),
                                         call.seed, running, call.pool);
    std::vector<Index> all(static_cast<std::size_t>(view.n_groups()));
    std::iota(all.begin(), all.end(), Index{0});
    const MemorySource source(view, {all});
    const StreamRun run = run_batches(o, view.n_groups(), learner, call.pool,
                                      [&](const std::vector<Index>& units, double keep, bool fresh) {
                                        std::vector<Place> places;
                                        for (Index d : units) places.push_back({0, d});
                                        const Sample batch = take_groups(source, places);
                                        const auto documents = topics::documents_of(obs, batch.data);
                                        double score = NA_REAL;
                                        if (fresh && documents->n() > 0) {
                                          score = learner.log_predictive(*documents);
                                          if (const std::vector<Index>* rows = documents->rows())
                                            score += sum_log_base(obs, batch.data, *rows, &call.pool);
                                          score /= static_cast<double>(documents->n());
                                        }
                                        learner.learn(*documents, keep, fresh);
                                        return score;
                                      });
    Globals globals = running_globals(running, call.rmodel);
    Vec weights = learner.mean_weights();
    weights.resize(static_cast<std::size_t>(globals.effective.k + 1), 0.0);
    globals =
        alloc_of<topics::TopicAlloc>(*call.rmodel.alloc).globals_at(std::move(globals.effective), weights);
    return made_in_r([&] { return stream_answer(topics_to_r(running), globals, run, learner); });
  });
}
