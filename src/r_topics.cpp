#include "r_topics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "r_convert.h"
#include "r_source.h"
#include "topics/anchor_words.h"
#include "topics/anchor_work.h"
#include "topics/completion.h"
#include "topics/response_by_words.h"
#include "topics/sequential_estimate.h"
#include "topics/term_sum.h"
#include "topics/topic_model.h"

namespace bnpvi {

SEXP document_counts_to_r(const State& state, const Source& source) {
  struct Count {
    Index document;
    const Share* share;
  };
  std::vector<Count> counts;
  for (Index b = 0; b < source.n_batches(); ++b) {
    const std::shared_ptr<const Batch> batch = source.open(b);
    if (state.batch[b]->settled) continue;
    const UnitMemory* memory = state.batch[b]->memory.get();
    if (!memory || memory->shares.empty()) return R_NilValue;
    for (std::size_t i = 0; i < batch->units.size(); ++i)
      for (const Share& s : memory->shares.shares(static_cast<Index>(i)))
        counts.push_back({batch->group_number(batch->units[i]), &s});
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const Count& x, const Count& y) { return x.document < y.document; });
  const int n = static_cast<int>(counts.size());
  Rcpp::IntegerVector document(n), topic(n);
  Rcpp::NumericVector count(n);
  for (int i = 0; i < n; ++i) {
    document[i] = static_cast<int>(counts[i].document) + 1;
    topic[i] = counts[i].share->cluster + 1;
    count[i] = counts[i].share->count;
  }
  using Rcpp::_;
  return Rcpp::List::create(_["document"] = document, _["topic"] = topic, _["count"] = count);
}

std::vector<std::shared_ptr<const UnitMemory>> documents_from_r(const Rcpp::List& counts,
                                                                const Source& source) {
  const Rcpp::IntegerVector document(static_cast<SEXP>(counts["document"])),
      topic(static_cast<SEXP>(counts["topic"]));
  const Rcpp::NumericVector count(static_cast<SEXP>(counts["count"]));
  std::map<Index, std::vector<Share>> shares;
  for (R_xlen_t i = 0; i < document.size(); ++i)
    shares[document[i] - 1].push_back({topic[i] - 1, topic[i] - 1, count[i], 0, count[i]});
  std::vector<std::shared_ptr<const UnitMemory>> out;
  for (Index b = 0; b < source.n_batches(); ++b) {
    const std::shared_ptr<const Batch> batch = source.open(b);
    auto memory = std::make_shared<UnitMemory>();
    const auto block = std::make_shared<ShareBlock>();
    for (Index unit : batch->units) {
      std::vector<Share>& share = shares[batch->group_number(unit)];
      std::sort(share.begin(), share.end(),
                [](const Share& a, const Share& b) { return a.cluster < b.cluster; });
      memory->shares.unit.push_back(remember(*block, 0, share));
      memory->shares.unit.back().weight = batch->data.weight_of_group(unit);
    }
    memory->shares.block.push_back(block);
    out.push_back(memory);
  }
  return out;
}

}  // namespace bnpvi

using namespace bnpvi;
using namespace bnpvi::topics;

namespace {

// Topics that are taken as known: φ, K × V, and their weights in every document, for data of counts.
void require_topics(const Rcpp::NumericMatrix& phi, const Rcpp::NumericVector& weight, const Dataset& data) {
  require(data.sparse() && phi.ncol() == data.d && phi.nrow() == weight.size(),
          "phi has not a row for each topic and a column for each term");
}

// The table of a model of counts with C given (terms × K).
Weights weights_of(const Rcpp::NumericMatrix& c) {
  Weights out;
  out.k = c.ncol();
  out.p = c.nrow() + 1;
  out.w.assign(static_cast<std::size_t>(out.k * out.p), 0.0);
  for (Index j = 0; j < out.k; ++j)
    std::copy_n(c.begin() + j * c.nrow(), c.nrow(), out.w.begin() + j * out.p + 1);
  return out;
}

// One entry for each equation: mean (topics, then covariates) and covariance, of gaussian responses divided
// by σ², 1/σ² ~ Gamma(df/2, scale/2), or `variance` if that is above 0.
Rcpp::List responses_to_r(const ResponsePosterior& q, double variance) {
  const int w = static_cast<int>(q.size);
  Rcpp::List mean(q.equation.size()), covariance(q.equation.size());
  for (std::size_t e = 0; e < q.equation.size(); ++e) {
    mean[e] = q.equation[e].mean;
    covariance[e] = Rcpp::NumericMatrix(w, w, q.equation[e].covariance.begin());
  }
  using Rcpp::_;
  return Rcpp::List::create(_["mean"] = mean, _["covariance"] = covariance, _["df"] = q.df,
                            _["scale"] = q.scale, _["variance"] = variance);
}

}  // namespace

// [[Rcpp::export]]
Rcpp::NumericMatrix engine_collapsed_proportions(Rcpp::List data, Rcpp::NumericMatrix phi,
                                                 Rcpp::NumericVector weight, int threads) {
  return entry([&] {
    const RData rdata(data);
    RMonitor monitor{R_NilValue};
    const Dataset& view = rdata.view();
    require_topics(phi, weight, view);
    RPool pool(threads, monitor);
    const Vec out = collapsed_proportions(view, Rcpp::as<Vec>(phi), Rcpp::as<Vec>(weight), pool);
    return made_in_r([&] {
      return Rcpp::NumericMatrix(static_cast<int>(view.n), static_cast<int>(weight.size()), out.begin());
    });
  });
}

// [[Rcpp::export]]
Rcpp::NumericVector engine_sequential_estimates(Rcpp::List data, Rcpp::NumericMatrix phi,
                                                Rcpp::NumericVector weight, int draws, double seed,
                                                int threads) {
  return entry([&] {
    const RData rdata(data);
    require_topics(phi, weight, rdata.view());
    require(draws > 0, "no draws");
    RMonitor monitor{R_NilValue};
    RPool pool(threads, monitor);
    const Vec out = sequential_estimates(rdata.view(), Rcpp::as<Vec>(phi), Rcpp::as<Vec>(weight), draws,
                                         static_cast<std::uint64_t>(seed), pool);
    return made_in_r([&] { return Rcpp::NumericVector(out.begin(), out.end()); });
  });
}

// [[Rcpp::export]]
Rcpp::NumericVector engine_predictive_probabilities(Rcpp::List seen, Rcpp::List held,
                                                    Rcpp::NumericMatrix concentration,
                                                    Rcpp::NumericVector weight, int threads) {
  return entry([&] {
    const RData seen_data(seen), held_data(held);
    const Dataset &from = seen_data.view(), &to = held_data.view();
    require(from.sparse() && to.sparse() && from.n == to.n && from.d == to.d,
            "seen and held-out parts are not of the same documents");
    require(concentration.ncol() == from.d && concentration.nrow() == weight.size(),
            "concentration has not a row for each topic and a column for each term");
    RMonitor monitor{R_NilValue};
    RPool pool(threads, monitor);
    const Vec out =
        predictive_probabilities(from, to, Rcpp::as<Vec>(concentration), Rcpp::as<Vec>(weight), pool);
    return made_in_r([&] { return Rcpp::NumericVector(out.begin(), out.end()); });
  });
}

// Documents of counts with the responsibilities r ∝ exp(C + P) (C is terms × K, P documents × K with −Inf for
// topics that a document has not), summed by term and by document, for tests.
// [[Rcpp::export]]
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
    const DocumentPrior prior(Vec(static_cast<std::size_t>(k), 1.0));
    std::vector<Index> units(static_cast<std::size_t>(n));
    std::iota(units.begin(), units.end(), Index{0});
    std::vector<TermSum> parts;
    parts.emplace_back(rdata.view(), units, 0, half, k, 1, nullptr);
    parts.emplace_back(rdata.view(), units, half, n, k, 1, nullptr);
    TopicSum by_document(*rmodel.obs, rdata.view(), k, 1, width, nullptr);
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
    Summary documents(topic_shape(n_terms + 1, nullptr), k);
    by_document.finish(documents);
    const auto list = [](const Summary& s) {
      using Rcpp::_;
      return Rcpp::List::create(_["obs"] = Vec(s.obs.begin(), s.obs.end()), _["extra"] = s.extra,
                                _["scalar"] = s.scalar);
    };
    return Rcpp::List::create(Rcpp::_["terms"] = list(terms), Rcpp::_["documents"] = list(documents));
  });
}

// A visit of one document whose n words occur `weight` times, from its last shares (NULL: none) in a list of
// topic, count, log_weight and wait: the shares after it, and the visits until the next search, for tests. c
// is n × K.
// [[Rcpp::export]]
Rcpp::List engine_document_visit(Rcpp::NumericMatrix c, Rcpp::NumericVector weight,
                                 Rcpp::NumericVector alpha_pi, int width, Rcpp::Nullable<Rcpp::List> last) {
  return entry([&] {
    const Weights weights = weights_of(c);
    const TopicTable table(weights, true);
    const DocumentPrior prior(Rcpp::as<Vec>(alpha_pi));
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

namespace {

Rcpp::List anchors_to_r(const AnchorTopics& topics, Index d) {
  return made_in_r([&] {
    const Rcpp::NumericMatrix t(static_cast<int>(d) + 1, static_cast<int>(topics.k), topics.t.begin());
    const Rcpp::IntegerVector word(topics.word.begin(), topics.word.end());
    return Rcpp::List::create(Rcpp::_["statistics"] = Rcpp::transpose(t), Rcpp::_["word"] = word + 1);
  });
}

}  // namespace

// [[Rcpp::export]]
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

// The same from sums over batches, as `control` deals them (for tests).
// [[Rcpp::export]]
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

// q(η) of the responses of documents in a fit.
// [[Rcpp::export]]
Rcpp::List engine_responses(Rcpp::List model, Rcpp::List state) {
  return entry([&] {
    const RModel rmodel(model);
    const auto* topics = alloc_as<TopicAlloc>(*rmodel.alloc);
    require(topics && topics->response(), "model has no response");
    const ResponsePosterior q = topics->response()->posterior(state_from_r(state, rmodel).effective);
    return responses_to_r(q, topics->response()->prior().variance);
  });
}

// The same from counts of topics in documents (documents × topics) that words alone have led to; values: a
// column for each document, which counts `times` times.
// [[Rcpp::export]]
Rcpp::List engine_responses_by_words(Rcpp::List model, Rcpp::NumericMatrix counts, Rcpp::NumericMatrix values,
                                     Rcpp::NumericVector times) {
  return entry([&] {
    const RModel rmodel(model);
    const auto* topics = alloc_as<TopicAlloc>(*rmodel.alloc);
    require(topics && topics->response(), "model has no response");
    const ResponseModel& response = *topics->response();
    require(values.nrow() == response.n_values() && values.ncol() == counts.nrow() &&
                times.size() == counts.nrow(),
            "values of documents do not fit their counts");
    std::vector<SharesByWords> documents(static_cast<std::size_t>(counts.nrow()));
    for (int d = 0; d < counts.nrow(); ++d) {
      documents[d].value = values.begin() + static_cast<Index>(d) * values.nrow();
      documents[d].times = times[d];
      for (int j = 0; j < counts.ncol(); ++j) {
        if (!(counts(d, j) > 0)) continue;
        documents[d].share.push_back({j, j, counts(d, j), 0, 0});
        documents[d].length += counts(d, j);
      }
    }
    return responses_to_r(response_by_words(response, counts.ncol(), documents), response.prior().variance);
  });
}
