// Entries for tests: sums and visits of documents, and anchor words.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "inference/start/start.h"
#include "r_convert.h"
#include "r_source.h"
#include "r_testing_entries.h"
#include "topics/anchors/anchor_words.h"
#include "topics/anchors/anchor_work.h"
#include "topics/model/term_sum.h"
#include "topics/model/topic_model.h"
#include "topics/moves/merge_forecast.h"

using namespace bnpvi;
using namespace bnpvi::topics;

namespace {

// The weights of a model of counts, given C (terms × K).
Weights weights_of(const Rcpp::NumericMatrix& c) {
  Weights out;
  out.k = c.ncol();
  out.p = c.nrow() + 1;
  out.w.assign(static_cast<std::size_t>(out.k * out.p), 0.0);
  for (Index j = 0; j < out.k; ++j)
    std::copy_n(c.begin() + j * c.nrow(), c.nrow(), out.w.begin() + j * out.p + 1);
  return out;
}

Rcpp::List anchors_to_r(const AnchorTopics& topics, Index d) {
  return made_in_r([&] {
    const Rcpp::NumericMatrix t(static_cast<int>(d) + 1, static_cast<int>(topics.k), topics.t.begin());
    const Rcpp::IntegerVector word(topics.word.begin(), topics.word.end());
    return Rcpp::List::create(Rcpp::_["statistics"] = Rcpp::transpose(t), Rcpp::_["word"] = word + 1);
  });
}

// Documents of counts with responsibilities r ∝ exp(C + P), summed by term and by document. C: terms × K; P:
// documents × K, with −Inf for topics that a document does not have.
Rcpp::List engine_topic_sums(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix c,
                             Rcpp::NumericMatrix log_weight, int width, int threads) {
  return entry([&] {
    const RData rdata(data);
    const RModel rmodel(model);
    RMonitor monitor{R_NilValue};
    RPool pool(threads, monitor);
    const Index k = c.ncol(), n_terms = c.nrow(), n = rdata.view().n, half = n / 2;
    const Weights weights = weights_of(c);
    const TopicTable table(weights, true);
    const DocumentPriors prior(DocumentPrior(Vec(static_cast<std::size_t>(k), 1.0)));
    std::vector<Index> units(static_cast<std::size_t>(n));
    std::iota(units.begin(), units.end(), Index{0});
    std::vector<TermSum> parts;
    parts.emplace_back(rdata.view(), units, 0, half, k, DocumentTerms{1});
    parts.emplace_back(rdata.view(), units, half, n, k, DocumentTerms{1});
    TopicSum by_document(*rmodel.obs, rdata.view(), k, width, {1});
    DocumentReader reader(*rmodel.obs, rdata.view());
    DocStep step(prior, width);
    Vec r;
    double entropy = 0;
    for (Index d = 0; d < n; ++d) {
      const DocumentView view = reader.load(d, weights, &table, true);
      std::vector<Share> share;
      for (Index j = 0; j < k; ++j)
        if (log_weight[j * n + d] > -INFINITY)
          share.push_back({static_cast<int>(j), static_cast<int>(j), 1, log_weight[j * n + d], 1});
      document_responsibilities(view, share, width, r, entropy);
      for (std::size_t j = 0; j < share.size(); ++j) {
        share[j].count = 0;
        for (Index u = 0; u < view.n; ++u) share[j].count += view.count(u) * r[u * share.size() + j];
      }
      step.warm(view, share, false);
      parts[d < half ? 0 : 1].add(view, share, step.factors(view, share));
      by_document.add(reader, view, share);
    }
    const Summary terms = TermSum::finish(parts, table, pool);
    Summary documents(topic_shape(n_terms + 1, {1}), k);
    by_document.finish(documents);
    const auto list = [](const Summary& s) {
      using Rcpp::_;
      return Rcpp::List::create(_["obs"] = Vec(s.obs.begin(), s.obs.end()), _["extra"] = s.extra,
                                _["scalar"] = s.scalar);
    };
    return Rcpp::List::create(Rcpp::_["terms"] = list(terms), Rcpp::_["documents"] = list(documents));
  });
}

// A visit of one document whose n words occur `weight` times. last: its shares so far, a list of topic,
// count, log_weight and wait; NULL: none. Returns the shares after the visit, and the number of visits until
// the next search. c: n × K.
Rcpp::List engine_document_visit(Rcpp::NumericMatrix c, Rcpp::NumericVector weight,
                                 Rcpp::NumericVector alpha_pi, int width, Rcpp::Nullable<Rcpp::List> last) {
  return entry([&] {
    const Weights weights = weights_of(c);
    const TopicTable table(weights, true);
    const DocumentPriors prior(DocumentPrior(Rcpp::as<Vec>(alpha_pi)));
    DocStep step(prior, width);
    DocumentView view;
    view.n = c.nrow();
    view.k = c.ncol();
    view.c_table = table.c;
    view.e = table.e.data();
    view.weight = weight.begin();
    view.length = std::accumulate(weight.begin(), weight.end(), 0.0);
    std::vector<Share> share;
    int wait = 0;
    if (last.isNotNull()) {
      const Rcpp::List given(last);
      const auto topic = Rcpp::as<std::vector<int>>(given["topic"]);
      const Vec count = given["count"], log_weight = given["log_weight"];
      for (std::size_t j = 0; j < topic.size(); ++j)
        share.push_back({topic[j] - 1, topic[j] - 1, count[j], log_weight[j], count[j]});
      wait = given["wait"];
    }
    ShareBlock visited;
    const UnitShares now = TopicAlloc::visit(step, view, {share, 0, wait}, visited, 0);
    std::vector<int> topic;
    Vec count, log_weight;
    for (const Share& s : visited.share) {
      topic.push_back(s.cluster + 1);
      count.push_back(s.count);
      log_weight.push_back(s.log_weight);
    }
    using Rcpp::_;
    return Rcpp::List::create(_["topic"] = topic, _["count"] = count, _["log_weight"] = log_weight,
                              _["wait"] = now.wait);
  });
}

Rcpp::List engine_anchor_topics(Rcpp::List data, int k, bool clear, double seed, int threads) {
  return entry([&] {
    const RData rdata(data);
    RMonitor monitor{R_NilValue};
    RPool pool(threads, monitor);
    const Dataset& view = rdata.view();
    require(view.sparse(), "anchor words need sparse counts");
    Stream stream(static_cast<std::uint64_t>(seed), Purpose::test);
    return anchors_to_r(anchor_topics(all_counts(view), view.d, k, clear, stream, pool), view.d);
  });
}

// The same from sums over the batches that `control` deals.
Rcpp::List engine_anchor_topics_by_batch(Rcpp::List data, Rcpp::List model, Rcpp::List control, bool clear) {
  return entry([&] {
    return on_dealt_data(data, model, control, [&](const Problem& problem, RPool& pool, const ListFields& c) {
      SumsOfBatches sums(problem, pool);
      Stream stream(problem.seed, Purpose::test);
      const Index d = problem.source.shape().d;
      return anchors_to_r(anchor_topics(sums, d, c.integer("k_init"), clear, stream, pool), d);
    });
  });
}

// Forecasts of the merges of all pairs of topics, K × K, in a state with responsibilities `resp`, where only
// gains above `least` matter; and which pairs occur together in a document.
Rcpp::List engine_merge_forecasts(Rcpp::List data, Rcpp::List model, Rcpp::NumericMatrix resp, double least) {
  return entry([&] {
    const RData rdata(data);
    const RModel rmodel(model);
    RMonitor monitor{R_NilValue};
    Pool pool(1, monitor);
    const Index k = resp.ncol();
    const MemorySource source(rdata.view(), {all_units(rdata.view(), rmodel)});
    const Problem problem{source, *rmodel.obs, *rmodel.alloc};
    const State state = start_from_responsibilities(problem, {resp.begin(), resp.nrow(), k}, pool);
    const MoveOptions options;
    MoveMemory memory(k, 1);
    const auto visitor = problem.alloc.visitor();
    const MoveContext context{problem, options, memory, *visitor, pool, 1};
    std::vector<TopicNumbers> pairs;
    for (Index b = 1; b < k; ++b)
      for (Index a = 0; a < b; ++a) pairs.push_back({a, b});
    const MergeForecast forecast(context, static_cast<const TopicAlloc&>(problem.alloc), state, pairs);
    Rcpp::NumericMatrix gain(static_cast<int>(k), static_cast<int>(k));
    Rcpp::LogicalMatrix shared(static_cast<int>(k), static_cast<int>(k));
    for (const auto& [a, b] : pairs) {
      gain(a, b) = gain(b, a) = forecast.gain(a, b, least);
      shared(a, b) = shared(b, a) = forecast.shared(a, b);
    }
    return Rcpp::List::create(Rcpp::_["gain"] = gain, Rcpp::_["shared"] = shared);
  });
}

const testing::Entry entries[] = {
    {"engine_topic_sums", {"data", "model", "c", "log_weight", "width", "threads"}, engine_topic_sums},
    {"engine_document_visit", {"c", "weight", "alpha_pi", "width", "last"}, engine_document_visit},
    {"engine_merge_forecasts", {"data", "model", "resp", "least"}, engine_merge_forecasts},
    {"engine_anchor_topics", {"data", "k", "clear", "seed", "threads"}, engine_anchor_topics},
    {"engine_anchor_topics_by_batch", {"data", "model", "control", "clear"}, engine_anchor_topics_by_batch},
};

}  // namespace
