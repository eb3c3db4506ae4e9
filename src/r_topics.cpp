#include "r_topics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "anchor_words.h"
#include "completion.h"
#include "r_convert.h"
#include "term_sum.h"
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
      for (const TopicShare& s : memory->document[i].share()) counts.push_back({batches[b][i], &s});
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
    const Dataset& view = rdata.view();
    require(view.sparse() && phi.ncol() == view.d && phi.nrow() == weight.size(),
            "phi has not a row for each topic and a column for each term");
    RPool pool(threads, monitor);
    const Vec out = collapsed_proportions(view, Rcpp::as<Vec>(phi), Rcpp::as<Vec>(weight), pool);
    Rcpp::NumericMatrix result(static_cast<int>(view.n), static_cast<int>(weight.size()));
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
    const Dataset &from = seen_data.view(), &to = held_data.view();
    require(from.sparse() && to.sparse() && from.n == to.n && from.d == to.d,
            "seen and held-out parts are not of the same documents");
    require(concentration.ncol() == from.d && concentration.nrow() == weight.size(),
            "concentration has not a row for each topic and a column for each term");
    RMonitor monitor{R_NilValue};
    RPool pool(threads, monitor);
    return Rcpp::wrap(
        predictive_probabilities(from, to, Rcpp::as<Vec>(concentration), Rcpp::as<Vec>(weight), pool));
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
    Weights weights;
    weights.k = k;
    weights.p = n_terms + 1;
    weights.w.assign(static_cast<std::size_t>(k * weights.p), 0.0);
    for (Index j = 0; j < k; ++j)
      for (Index v = 0; v < n_terms; ++v) weights.w[j * weights.p + v + 1] = c[j * n_terms + v];
    const TopicTable table(weights, true);
    const DocumentPrior prior(Vec(static_cast<std::size_t>(k), 1.0));
    std::vector<Index> units(static_cast<std::size_t>(n));
    std::iota(units.begin(), units.end(), Index{0});
    std::vector<TermSum> parts;
    parts.emplace_back(rdata.view(), units, 0, half, k, 1);
    parts.emplace_back(rdata.view(), units, half, n, k, 1);
    TopicSum by_document(*rmodel.obs, rdata.view(), k, 1, width);
    DocumentReader reader(*rmodel.obs, rdata.view());
    DocStep step(prior, width);
    Vec r;
    double entropy = 0;
    for (Index d = 0; d < n; ++d) {
      const DocumentView view = reader.load(d, weights, &table, true);
      std::vector<TopicShare> share;
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
    Summary documents(topic_shape(n_terms + 1), k);
    by_document.finish(documents);
    const auto list = [](const Summary& s) {
      using Rcpp::_;
      return Rcpp::List::create(_["obs"] = Vec(s.obs.begin(), s.obs.end()), _["extra"] = s.extra,
                                _["scalar"] = s.scalar);
    };
    return Rcpp::List::create(Rcpp::_["terms"] = list(terms), Rcpp::_["documents"] = list(documents));
  });
}

// [[Rcpp::export]]
Rcpp::List engine_anchor_topics(Rcpp::List data, int k, bool clear, double seed, int threads) {
  return entry([&] {
    const RData rdata(data);
    RMonitor monitor{R_NilValue};
    RPool pool(threads, monitor);
    const Dataset& view = rdata.view();
    require(view.sparse(), "anchor words need sparse counts");
    Stream stream(static_cast<std::uint64_t>(seed), Purpose::test);
    const AnchorTopics out = anchor_topics(all_counts(view), view.d, k, clear, stream, pool);
    Rcpp::NumericMatrix t(static_cast<int>(view.d) + 1, static_cast<int>(out.k));
    std::copy(out.t.begin(), out.t.end(), t.begin());
    Rcpp::IntegerVector word(out.word.begin(), out.word.end());
    return Rcpp::List::create(Rcpp::_["statistics"] = Rcpp::transpose(t), Rcpp::_["word"] = word + 1);
  });
}
