#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/special.h"
#include "topics/topic_parts.h"
#include "topics/truncation_free_topics.h"

namespace bnpvi::topics {

namespace {

// Guesses; the first two as for clusters of rows.
constexpr Index sweeps_of_split = 4, fewest_to_split = 8, most_to_split = 2000, most_parts = 20;

// log Γ(a + n) / Γ(a).
double log_rising(double a, double n) { return -log_gamma_difference(a, n); }

}  // namespace

void TruncationFreeTopics::split_all() {
  Stream stream(seed_, Purpose::stream, topics_.batches, 1);
  for (Index j = 0; j < topics_.k(); ++j) {
    pool_.poll();
    split(j, stream);
  }
}

void TruncationFreeTopics::split(Index j, Stream& stream) {
  RunningTopics& c = topics_;
  const Index v = p_ - 1;
  const double weight = c.alpha * mean_weights()[j];
  // The topic's part of each of the latest documents.
  std::vector<TopicPart> parts;
  std::vector<std::vector<std::size_t>> tokens;
  Vec part_tables, count(static_cast<std::size_t>(v), 0.0);
  std::size_t i = 0;
  for (int n : c.recent.length) {
    TopicPart part;
    std::vector<std::size_t> own;
    double tables = 0;
    for (const std::size_t to = i + static_cast<std::size_t>(n); i < to; ++i) {
      if (c.recent.topic[i] != static_cast<int>(j)) continue;
      if (count[c.recent.word[i]]++ == 0) part.word.push_back(c.recent.word[i]);
      own.push_back(i);
      tables += c.recent.tables[i];
    }
    if (own.empty()) continue;
    part.n = static_cast<Index>(own.size());
    for (int w : part.word) {
      part.count.push_back(static_cast<int>(count[w]));
      count[w] = 0;
    }
    parts.push_back(std::move(part));
    tokens.push_back(std::move(own));
    part_tables.push_back(tables);
  }
  const auto keep_latest = [&](auto& list) {
    list.erase(list.begin(), list.end() - std::min<std::ptrdiff_t>(most_to_split, list.end() - list.begin()));
  };
  keep_latest(parts);
  keep_latest(tokens);
  keep_latest(part_tables);
  const Index most = std::min(most_parts, options_.most_topics - c.k() + 1);
  if (static_cast<Index>(parts.size()) < fewest_to_split || most < 2) return;
  const std::vector<int> label = cluster_parts(parts, lambda_, 1, sweeps_of_split, most, stream, pool_);
  const Index k = 1 + *std::max_element(label.begin(), label.end());
  if (k < 2) return;

  // What all and each cluster have of the tokens, tables and evidence.
  std::vector<Vec> words(static_cast<std::size_t>(k), Vec(static_cast<std::size_t>(v), 0.0));
  Vec n(static_cast<std::size_t>(k), 0.0), tables(n), all_words(static_cast<std::size_t>(v), 0.0);
  for (std::size_t u = 0; u < parts.size(); ++u) {
    for (std::size_t e = 0; e < parts[u].word.size(); ++e) {
      words[label[u]][parts[u].word[e]] += parts[u].count[e];
      all_words[parts[u].word[e]] += parts[u].count[e];
    }
    n[label[u]] += static_cast<double>(parts[u].n);
    tables[label[u]] += std::max(1.0, part_tables[u]);
  }
  const double all_n = std::accumulate(n.begin(), n.end(), 0.0),
               all_tables = std::accumulate(tables.begin(), tables.end(), 0.0);
  double gain = -log_evidence_of_counts(all_words, all_n, lambda_);
  for (Index a = 0; a < k; ++a) gain += log_evidence_of_counts(words[a], n[a], lambda_);
  for (std::size_t u = 0; u < parts.size(); ++u) {
    const double share = prior_.k > 0 ? 1 : tables[label[u]] / all_tables;
    gain += log_rising(weight * share, static_cast<double>(parts[u].n)) -
            log_rising(weight, static_cast<double>(parts[u].n));
  }
  if (prior_.k > 0) {
    for (Index a = 1; a < k; ++a) gain += std::log(static_cast<double>(prior_.k - c.k() - a + 1));
  } else {
    gain += static_cast<double>(k - 1) * std::log(c.gamma) - log_gamma(all_tables);
    for (double s : tables) gain += log_gamma(s) - s * std::log(s / all_tables);
  }
  if (!(gain > 0)) return;

  // Earlier tokens of a word are shared as the clusters would explain them.
  const double total = std::accumulate(lambda_.begin(), lambda_.end(), 0.0);
  std::vector<double> statistics(static_cast<std::size_t>(k * p_), 0.0);
  for (Index w = 0; w < v; ++w) {
    const double earlier = std::max(0.0, c.t[j * p_ + 1 + w] - all_words[w]);
    double sum = 0;
    const auto share = [&](Index a) { return n[a] * (words[a][w] + lambda_[w]) / (n[a] + total); };
    for (Index a = 0; a < k; ++a) sum += share(a);
    for (Index a = 0; a < k; ++a) {
      const double has = std::min(words[a][w], c.t[j * p_ + 1 + w]) + earlier * share(a) / sum;
      statistics[a * p_ + 1 + w] = has;
      statistics[a * p_] += has;
    }
  }
  const Index largest = std::max_element(n.begin(), n.end()) - n.begin();
  std::vector<Index> number;
  const double earlier_tables = std::max(0.0, c.tables[j] - all_tables);
  for (Index a = 0; a < k; ++a) {
    const auto from = statistics.begin() + a * p_;
    const double of_cluster = prior_.k > 0 ? 0 : tables[a] + earlier_tables * n[a] / all_n;
    if (a == largest) {
      number.push_back(j);
      std::copy_n(from, p_, c.t.begin() + j * p_);
      c.tables[j] = of_cluster;
      continue;
    }
    number.push_back(c.k());
    c.t.insert(c.t.end(), from, from + p_);
    c.tables.push_back(of_cluster);
    c.identity.push_back({c.next_id++, c.seen, c.seen});
  }
  for (std::size_t u = 0; u < parts.size(); ++u)
    for (std::size_t at : tokens[u]) c.recent.topic[at] = static_cast<int>(number[label[u]]);
}

}  // namespace bnpvi::topics
