#include <algorithm>
#include <numeric>

#include "topics/document_tables.h"
#include "topics/truncation_free_topics.h"

namespace bnpvi::topics {

namespace {

// The latest tokens that have a topic, and where they are in the record.
struct LatestTokens {
  std::vector<std::size_t> place;
  std::vector<int> word, label, tables, length;
  Vec mass;  // of each document

  explicit LatestTokens(const LabelledDocuments& recent) : mass(recent.mass) {
    std::size_t i = 0;
    for (int n : recent.length) {
      const std::size_t before = place.size();
      for (const std::size_t to = i + static_cast<std::size_t>(n); i < to; ++i) {
        if (recent.topic[i] < 0) continue;
        place.push_back(i);
        word.push_back(recent.word[i]);
        label.push_back(recent.topic[i]);
        tables.push_back(recent.tables[i]);
      }
      length.push_back(static_cast<int>(place.size() - before));
    }
  }

  // f(token, mass) of all tokens.
  template <class F>
  void each(F f) const {
    std::size_t i = 0;
    for (std::size_t d = 0; d < length.size(); ++d)
      for (int n = 0; n < length[d]; ++n, ++i) f(i, mass[d]);
  }

  Vec tables_of(Index k) const {
    Vec out(static_cast<std::size_t>(k), 0.0);
    each([&](std::size_t i, double m) { out[label[i]] += m * tables[i]; });
    return out;
  }
};

}  // namespace

void TruncationFreeTopics::renew_recent() {
  RunningTopics& c = topics_;
  if (options_.renewals == 0 || c.k() == 0) return;
  LatestTokens latest(c.recent);
  const Vec tables_before = latest.tables_of(c.k());
  Vec t = c.t, earlier = c.tables;
  latest.each([&](std::size_t i, double mass) {
    double* of_topic = t.data() + latest.label[i] * p_;
    of_topic[0] -= mass;
    of_topic[1 + latest.word[i]] -= mass;
  });
  for (std::size_t j = 0; j < earlier.size(); ++j) earlier[j] = std::max(0.0, earlier[j] - tables_before[j]);
  for (double& x : t) x = std::max(0.0, x);
  urns_.begin_with(t.data(), c.k());
  latest.each([&](std::size_t i, double mass) { urns_.add(latest.label[i], latest.word[i], mass); });

  const Tokens documents(latest.word, latest.length, p_ - 1);
  Stream stream(seed_, Purpose::stream, c.batches, 3);
  TopWeights weights;
  DocumentDraws draws(documents, urns_, weights, pool_, options_.most_topics, &latest.mass);
  const auto all_tables = [&] {
    Vec out = latest.tables_of(urns_.k());
    for (std::size_t j = 0; j < earlier.size(); ++j) out[j] += earlier[j];
    return out;
  };
  for (Index sweep = 0; sweep < options_.renewals; ++sweep) {
    weights = draw_weights(all_tables(), c.gamma, stream);
    draws.draw_all(latest.label, c.alpha, c.gamma, stream);
    if (has_tables())
      latest.tables = draw_document_tables(documents.starts, latest.label, weights.beta, c.alpha, stream);
  }

  capped_ = capped_ || draws.capped();
  c.t = urns_.statistics();
  c.tables = all_tables();
  const Vec tables_now = latest.tables_of(urns_.k());
  c.alpha_shape += std::accumulate(tables_now.begin(), tables_now.end(), 0.0) -
                   std::accumulate(tables_before.begin(), tables_before.end(), 0.0);
  while (c.k() < urns_.k()) c.identity.push_back({c.next_id++, c.seen, c.seen});
  for (std::size_t i = 0; i < latest.place.size(); ++i) {
    c.recent.topic[latest.place[i]] = latest.label[i];
    c.recent.tables[latest.place[i]] = latest.tables[i];
  }
}

}  // namespace bnpvi::topics
