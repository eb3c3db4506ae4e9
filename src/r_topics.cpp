#include "r_topics.h"

#include <algorithm>

#include "completion.h"
#include "r_convert.h"
#include "topic_memory.h"

namespace bnpvi {

SEXP document_counts_to_r(const State& state, const std::vector<std::vector<Index>>& batches) {
  struct Count {
    Index document;
    const TopicShare* share;
  };
  std::vector<Count> counts;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const auto* memory = dynamic_cast<const TopicMemory*>(state.batch[b]->memory.get());
    if (!memory) return R_NilValue;
    for (std::size_t i = 0; i < batches[b].size(); ++i)
      for (const TopicShare& s : memory->document[i]->share) counts.push_back({batches[b][i], &s});
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const Count& x, const Count& y) { return x.document < y.document; });
  const int n = static_cast<int>(counts.size());
  Rcpp::IntegerVector document(n), topic(n);
  Rcpp::NumericVector count(n);
  for (int i = 0; i < n; ++i) {
    document[i] = static_cast<int>(counts[i].document) + 1;
    topic[i] = counts[i].share->topic + 1;
    count[i] = counts[i].share->count;
  }
  using Rcpp::_;
  return Rcpp::List::create(_["document"] = document, _["topic"] = topic, _["count"] = count);
}

}  // namespace bnpvi

using namespace bnpvi;

// [[Rcpp::export]]
Rcpp::NumericMatrix engine_collapsed_proportions(Rcpp::List data, Rcpp::NumericMatrix phi,
                                                 Rcpp::NumericVector weight, int threads) {
  return entry([&] {
    const RData rdata(data);
    RMonitor monitor{R_NilValue};
    Pool pool(threads, monitor);
    const Vec out = collapsed_proportions(rdata.view(), Rcpp::as<Vec>(phi), Rcpp::as<Vec>(weight), pool);
    Rcpp::NumericMatrix result(static_cast<int>(rdata.view().n), static_cast<int>(weight.size()));
    std::copy(out.begin(), out.end(), result.begin());
    return result;
  });
}

// [[Rcpp::export]]
Rcpp::NumericVector engine_predictive_probabilities(Rcpp::List seen, Rcpp::List held,
                                                    Rcpp::NumericMatrix concentration,
                                                    Rcpp::NumericVector weight, int threads) {
  return entry([&] {
    const RData seen_data(seen), held_data(held);
    RMonitor monitor{R_NilValue};
    Pool pool(threads, monitor);
    return Rcpp::wrap(predictive_probabilities(seen_data.view(), held_data.view(),
                                               Rcpp::as<Vec>(concentration), Rcpp::as<Vec>(weight), pool));
  });
}
