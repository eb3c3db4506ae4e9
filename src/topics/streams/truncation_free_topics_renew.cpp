#include <algorithm>
#include <numeric>

#include "topics/model/document_tables.h"
#include "topics/streams/truncation_free_topics.h"

namespace bnpvi::topics {

namespace {

// The latest observations that have a topic, and their positions in the record.
struct LatestObservations {
  LabelledDocuments documents;
  std::vector<Index> place;

  LatestObservations(const Documents& all, const LabelledDocuments& record) {
    documents.mass = record.mass;
    for (Index d = 0; d < all.n_documents(); ++d) {
      const Index before = documents.n();
      for (Index i = all.starts()[d]; i < all.starts()[d + 1]; ++i) {
        if (record.topic[i] < 0) continue;
        place.push_back(i);
        all.append_to(documents, i);
        documents.topic.push_back(record.topic[i]);
        documents.tables.push_back(record.tables[i]);
      }
      documents.length.push_back(static_cast<int>(documents.n() - before));
    }
  }

  // Calls f(observation, mass) for all observations.
  template <class F>
  void each(F f) const {
    Index i = 0;
    for (std::size_t d = 0; d < documents.length.size(); ++d)
      for (int n = 0; n < documents.length[d]; ++n, ++i) f(i, documents.mass[d]);
  }

  Vec tables_of(Index k) const {
    Vec out(static_cast<std::size_t>(k), 0.0);
    each([&](Index i, double m) { out[documents.topic[i]] += m * documents.tables[i]; });
    return out;
  }
};

}  // namespace

void TruncationFreeTopics::renew_recent() {
  RunningTopics& c = topics_;
  if (options_.renewals == 0 || c.k() == 0) return;
  const std::unique_ptr<Documents> all = documents_of(obs_, c.recent);
  const Vec t = statistics_of_earlier(*all);
  LatestObservations latest(*all, c.recent);
  const Vec tables_before = latest.tables_of(c.k());
  Vec earlier = c.tables;
  for (std::size_t j = 0; j < earlier.size(); ++j) earlier[j] = std::max(0.0, earlier[j] - tables_before[j]);

  const std::unique_ptr<Documents> documents = documents_of(obs_, latest.documents);
  const std::unique_ptr<ObservationUrns> urns = documents->urns();
  std::vector<int>&label = latest.documents.topic, &tables = latest.documents.tables;
  urns->begin_with(t.data(), c.k());
  Vec mass;
  latest.each([&](Index i, double of_document) {
    urns->add(label[i], i, of_document);
    mass.push_back(of_document);
  });
  Stream random = stream(3);
  TopWeights weights;
  DocumentDraws draws(documents->starts(), *urns, weights, pool_, options_.most_clusters,
                      &latest.documents.mass);
  const auto all_tables = [&] {
    Vec out = latest.tables_of(urns->k());
    for (std::size_t j = 0; j < earlier.size(); ++j) out[j] += earlier[j];
    return out;
  };
  for (Index sweep = 0; sweep < options_.renewals; ++sweep) {
    weights = draw_weights(all_tables(), c.gamma, random);
    draws.draw_all(label, c.alpha, c.gamma, random);
    if (has_tables())
      tables = draw_document_tables(documents->starts(), label, weights.beta, c.alpha, random);
  }

  capped_ = capped_ || draws.capped();
  c.t = urns->statistics(t, label, mass);
  c.tables = all_tables();
  const Vec tables_now = latest.tables_of(urns->k());
  c.alpha_shape += std::accumulate(tables_now.begin(), tables_now.end(), 0.0) -
                   std::accumulate(tables_before.begin(), tables_before.end(), 0.0);
  c.identify(urns->k());
  for (std::size_t i = 0; i < latest.place.size(); ++i) {
    c.recent.topic[latest.place[i]] = label[i];
    c.recent.tables[latest.place[i]] = tables[i];
  }
}

Vec TruncationFreeTopics::statistics_of_earlier(const Documents& latest) {
  RunningTopics& c = topics_;
  std::vector<int>& topic = c.recent.topic;
  Vec t = c.t;
  for (Index d = 0; d < latest.n_documents(); ++d)
    for (Index i = latest.starts()[d]; i < latest.starts()[d + 1]; ++i)
      if (topic[i] >= 0) latest.add_to(t.data() + topic[i] * p_, i, -c.recent.mass[d]);
  for (Index j = 0; j < c.k(); ++j) {
    if (latest.mend(t.data() + j * p_, size(j))) continue;
    std::copy_n(c.t.begin() + j * p_, p_, t.begin() + j * p_);
    std::replace(topic.begin(), topic.end(), static_cast<int>(j), -1);
  }
  return t;
}

}  // namespace bnpvi::topics
