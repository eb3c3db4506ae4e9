#include "r_topics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "r_convert.h"
#include "r_source.h"
#include "topics/anchors/anchor_words.h"
#include "topics/anchors/anchor_work.h"
#include "topics/model/completion.h"
#include "topics/model/sequential_estimate.h"
#include "topics/model/term_sum.h"
#include "topics/model/topic_model.h"
#include "topics/responses/response_by_words.h"

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

// Checks topics that are taken as known: φ, K × V, and their weights in every document, for data of counts.
void require_topics(const Rcpp::NumericMatrix& phi, const Rcpp::NumericVector& weight, const Dataset& data) {
  require(data.sparse() && phi.ncol() == data.d && phi.nrow() == weight.size(),
          "phi has not a row for each topic and a column for each term");
}

// For each equation, the mean (topics, then covariates) and the covariance; for gaussian responses divided
// by σ², with 1/σ² ~ Gamma(df/2, scale/2), or σ² = `variance` if that is above 0.
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

// The same from counts of topics in documents (documents × topics) that were derived from words only.
// values: one column for each document, which counts `times` times.
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
