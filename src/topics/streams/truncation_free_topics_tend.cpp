#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/special.h"
#include "inference/data/shared_entropy.h"
#include "topics/streams/truncation_free_topics.h"

namespace bnpvi::topics {

namespace {

constexpr Index partners = 5;  // of each topic, with which joining it is considered: a guess

// The positive counts of topics in documents, by topic.
struct DocumentTopics {
  struct Entry {
    int document;
    double count;
  };
  std::vector<std::vector<Entry>> of_topic;

  DocumentTopics(const LabelledDocuments& documents, Index k) : of_topic(static_cast<std::size_t>(k)) {
    std::size_t i = 0;
    for (std::size_t d = 0; d < documents.length.size(); ++d) {
      for (int n = 0; n < documents.length[d]; ++n, ++i) {
        if (documents.topic[i] < 0) continue;
        auto& list = of_topic[documents.topic[i]];
        if (list.empty() || list.back().document != static_cast<int>(d))
          list.push_back({static_cast<int>(d), 0});
        list.back().count += 1;
      }
    }
  }

  // Σ_d log Γ(a + n_d)/Γ(a) of topic j.
  double log_evidence(Index j, double a) const {
    double sum = 0;
    for (const Entry& e : of_topic[j]) sum += log_rising(a, e.count);
    return sum;
  }

  // The same for topics i and j joined.
  double log_evidence(Index i, Index j, double a) const {
    double sum = 0;
    auto x = of_topic[i].begin(), y = of_topic[j].begin();
    const auto x_end = of_topic[i].end(), y_end = of_topic[j].end();
    while (x != x_end || y != y_end) {
      if (y == y_end || (x != x_end && x->document < y->document))
        sum += log_rising(a, (x++)->count);
      else if (x == x_end || y->document < x->document)
        sum += log_rising(a, (y++)->count);
      else
        sum += log_rising(a, (x++)->count + (y++)->count);
    }
    return sum;
  }
};

}  // namespace

void TruncationFreeTopics::improve() {
  if (options_.split) split_all();
  renew_recent();
  remove_spent();
  if (options_.merge)
    while (merge_once()) pool_.poll();
}

double TruncationFreeTopics::prior_gain(Index a, Index b) const {
  if (prior_.k > 0) return -std::log(static_cast<double>(prior_.k - topics_.k() + 1));
  const double s_a = topics_.tables[a], s_b = topics_.tables[b], v = s_a / (s_a + s_b);
  return -std::log(topics_.gamma) - log_beta(s_a, s_b) + s_a * std::log(v) + s_b * std::log1p(-v);
}

Vec TruncationFreeTopics::latest_shares(const Vec& weight) const {
  const LabelledDocuments& recent = topics_.recent;
  const Index k = topics_.k();
  const std::unique_ptr<Documents> documents = documents_of(obs_, recent);
  const std::unique_ptr<ObservationUrns> urns = documents->urns();
  urns->begin_with(topics_.t.data(), k);
  Vec r(static_cast<std::size_t>(documents->n() * k));
  pool_.run(documents->n_documents(), [&](Index d) {
    pool_.poll();
    Vec in_document(static_cast<std::size_t>(k), 0.0), prior(in_document);
    const Index from = documents->starts()[d], to = documents->starts()[d + 1];
    for (Index i = from; i < to; ++i)
      if (recent.topic[i] >= 0) in_document[recent.topic[i]] += 1;
    for (Index i = from; i < to; ++i) {
      const Index own = recent.topic[i];
      for (Index j = 0; j < k; ++j) prior[j] = in_document[j] - (j == own) + weight[j];
      double* share = r.data() + i * k;
      urns->weigh_without(i, own, recent.mass[d], prior, share);
      const double sum = std::accumulate(share, share + k, 0.0);
      for (Index j = 0; j < k; ++j) share[j] = sum > 0 ? share[j] / sum : 0;
    }
  });
  return r;
}

std::vector<TruncationFreeTopics::Pair> TruncationFreeTopics::pairs_that_gain() {
  const RunningTopics& c = topics_;
  const Index k = c.k();
  const Vec evidence = evidence_of_pairs();
  Vec weight = mean_weights();
  for (double& w : weight) w *= c.alpha;
  const double scale = scale_of_latest(c.recent.n());
  const DocumentTopics documents(c.recent, k);
  Vec alone(static_cast<std::size_t>(k));
  for (Index j = 0; j < k; ++j) alone[j] = documents.log_evidence(j, weight[j]);
  std::vector<Pair> out;
  std::vector<Index> order(static_cast<std::size_t>(k));
  std::vector<std::pair<Index, Index>> seen;
  for (Index a = 0; a < k; ++a) {
    std::iota(order.begin(), order.end(), Index{0});
    const Index most = std::min(partners + 1, k);
    std::partial_sort(order.begin(), order.begin() + most, order.end(), [&](Index i, Index j) {
      return std::make_pair(-evidence[a * k + i], i) < std::make_pair(-evidence[a * k + j], j);
    });
    for (Index at = 0; at < most; ++at) {
      const Index b = order[at];
      if (b != a && evidence[a * k + b] > -INFINITY) seen.push_back(std::minmax(a, b));
    }
  }
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (const auto& [a, b] : seen) {
    const double joint = documents.log_evidence(a, b, prior_.k > 0 ? weight[a] : weight[a] + weight[b]);
    const double gain = evidence[a * k + b] + prior_gain(a, b) + scale * (joint - alone[a] - alone[b]);
    if (gain > 0) out.push_back({a, b, gain});
  }
  if (out.empty()) return out;
  weight.resize(static_cast<std::size_t>(k));
  const Vec r = latest_shares(weight);
  pool_.run(static_cast<Index>(out.size()), [&](Index i) {
    pool_.poll();
    Pair& pair = out[i];
    pair.gain -= scale * shared_entropy(r, k, pair.a, pair.b);
  });
  out.erase(std::remove_if(out.begin(), out.end(), [](const Pair& pair) { return !(pair.gain > 0); }),
            out.end());
  std::stable_sort(out.begin(), out.end(), [](const Pair& x, const Pair& y) { return x.gain > y.gain; });
  return out;
}

bool TruncationFreeTopics::merge_once() {
  RunningTopics& c = topics_;
  if (c.k() < 2) return false;
  std::vector<bool> touched(static_cast<std::size_t>(c.k()), false), joined(touched);
  for (Pair pair : pairs_that_gain()) {
    if (touched[pair.a] || touched[pair.b]) continue;
    touched[pair.a] = touched[pair.b] = true;
    join(pair.a, pair.b);
    joined[pair.b] = true;
  }
  c.remove(joined);
  return c.k() < static_cast<Index>(joined.size());
}

}  // namespace bnpvi::topics
