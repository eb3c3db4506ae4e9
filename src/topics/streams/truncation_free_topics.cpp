#include "topics/streams/truncation_free_topics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/special.h"
#include "hdp/tables.h"
#include "topics/model/document_tables.h"

namespace bnpvi::topics {

namespace {

constexpr Index draws_of_score = 10;  // a guess

// Topics are tended when so large a part of all observations has come since, within limits: a guess.
constexpr double part_between_tending = 0.1;

// The longer one's length, entries of the shorter one added.
Vec sum_of(const Vec& shorter, Vec longer) {
  for (std::size_t j = 0; j < shorter.size(); ++j) longer[j] += shorter[j];
  return longer;
}

}  // namespace

TruncationFreeTopics::TruncationFreeTopics(const ObsModel& obs, const TopicPrior& prior,
                                           const TruncationFreeTopicsOptions& options, std::uint64_t seed,
                                           RunningTopics& topics, Pool& pool)
    : obs_(obs),
      prior_(prior),
      options_(options),
      seed_(seed),
      topics_(topics),
      pool_(pool),
      p_(obs.n_features()),
      limits_(limits_of_stream(obs)) {}

double TruncationFreeTopics::total_size() const {
  double n = 0;
  for (Index j = 0; j < topics_.k(); ++j) n += size(j);
  return n;
}

Vec TruncationFreeTopics::mean_weights() const {
  const Index k = topics_.k();
  if (prior_.k > 0) {
    Vec out(static_cast<std::size_t>(k), 1 / static_cast<double>(prior_.k));
    out.push_back(static_cast<double>(prior_.k - k) / static_cast<double>(prior_.k));
    return out;
  }
  Vec out = topics_.tables;
  out.push_back(topics_.gamma);
  const double all = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& w : out) w /= all;
  return out;
}

double TruncationFreeTopics::log_predictive(const Documents& documents) const {
  Vec weight = mean_weights();
  if (!(weight.back() > 0)) weight.pop_back();
  for (double& w : weight) w *= topics_.alpha;
  Stream stream(seed_, Purpose::stream, topics_.batches, 2);
  return documents.log_predictive(topics_.t, weight, draws_of_score, stream.next(), pool_);
}

TopWeights TruncationFreeTopics::draw_weights(const Vec& tables, double gamma, Stream& stream) const {
  const Index k = static_cast<Index>(tables.size());
  if (prior_.k > 0)
    return {Vec(tables.size(), 1 / static_cast<double>(prior_.k)), RestOfWeights(prior_.k, 0, k)};
  Vec weight = draw_top_weights(tables, gamma, stream);
  const double rest = weight.back();
  weight.pop_back();
  return {std::move(weight), RestOfWeights(0, rest, k)};
}

std::vector<int> TruncationFreeTopics::draw_tables_of(const std::vector<Index>& starts,
                                                      const std::vector<int>& label, const Vec& beta,
                                                      const Vec& earlier, double& alpha, double& gamma,
                                                      Stream& stream) const {
  if (!has_tables()) return std::vector<int>(label.size(), 0);
  const std::vector<int> tables = draw_document_tables(starts, label, beta, alpha, stream);
  const double all = std::accumulate(tables.begin(), tables.end(), 0.0);
  if (const auto& prior = prior_.learned_alpha) {
    const GammaPrior known{prior->shape + topics_.alpha_shape, prior->rate + topics_.alpha_rate};
    alpha = draw_alpha(known, alpha, starts, all, stream);
  }
  if (prior_.learned_gamma) {
    const double with_earlier = all + std::accumulate(earlier.begin(), earlier.end(), 0.0);
    gamma =
        draw_gamma_given(*prior_.learned_gamma, gamma, static_cast<Index>(beta.size()), with_earlier, stream);
  }
  return tables;
}

void TruncationFreeTopics::learn(const Documents& documents, double keep, bool fresh) {
  RunningTopics& c = topics_;
  // Topics of which nothing is left give their places free. All changes are made behind the last interrupt.
  const bool weighted = prior_.k == 0;
  Vec faded, earlier;
  std::vector<ClusterIdentity> left;
  std::vector<Departure> gone;
  std::vector<int> number(static_cast<std::size_t>(c.k()), -1);  // among those that are left
  for (Index j = 0; j < c.k(); ++j) {
    if (!(keep * size(j) > 0) || (weighted && !(keep * c.tables[j] > 0))) {
      gone.push_back({c.identity[j]});
      continue;
    }
    number[j] = static_cast<int>(left.size());
    left.push_back(c.identity[j]);
    earlier.push_back(weighted ? keep * c.tables[j] : 0);
    for (Index f = 0; f < p_; ++f) faded.push_back(keep * c.t[j * p_ + f]);
  }
  const std::vector<Index>& starts = documents.starts();
  const std::unique_ptr<TopicUrns> urns = documents.urns();
  urns->begin_with(faded.data(), static_cast<Index>(left.size()));
  Stream stream(seed_, Purpose::stream, c.batches);
  double alpha = c.alpha, gamma = c.gamma;
  TopWeights weights = draw_weights(earlier, gamma, stream);
  DocumentDraws draws(starts, *urns, weights, pool_, options_.most_topics);
  std::vector<int> label;
  draws.place_all(label, alpha, gamma, stream);
  std::vector<int> tables = draw_tables_of(starts, label, weights.beta, earlier, alpha, gamma, stream);
  const auto with_earlier = [&] {
    return sum_of(earlier, tables_by_topic(tables, label, weights.beta.size()));
  };
  for (Index sweep = 1; sweep < options_.sweeps; ++sweep) {
    weights = draw_weights(with_earlier(), gamma, stream);
    draws.draw_all(label, alpha, gamma, stream);
    tables = draw_tables_of(starts, label, weights.beta, earlier, alpha, gamma, stream);
  }
  capped_ = capped_ || draws.capped();

  c.alpha_shape *= keep;
  c.alpha_rate *= keep;
  c.alpha_shape += std::accumulate(tables.begin(), tables.end(), 0.0);
  for (Index d = 0; d < documents.n_documents(); ++d) {
    const auto n = static_cast<double>(starts[d + 1] - starts[d]);
    c.alpha_shape -= n / (n + alpha);
    c.alpha_rate += digamma(alpha + 1 + n) - digamma(alpha + 1);
  }
  departed_.insert(departed_.end(), gone.begin(), gone.end());
  for (int& j : c.recent.topic)
    if (j >= 0) j = number[j];
  for (double& mass : c.recent.mass) mass *= keep;
  c.identity = std::move(left);
  c.t = urns->statistics();
  c.tables = with_earlier();
  c.alpha = alpha;
  c.gamma = gamma;
  if (fresh) c.seen += static_cast<double>(documents.n_documents());
  while (c.k() < urns->k()) c.identity.push_back({c.next_id++, c.seen, c.seen});
  for (int j : label) c.identity[j].last_seen = c.seen;
  keep_recent(documents, label, tables);
  keep_topics(c.by_size());
  c.untended += static_cast<double>(documents.n());
  ++c.batches;
}

void TruncationFreeTopics::keep_recent(const Documents& documents, const std::vector<int>& label,
                                       const std::vector<int>& tables) {
  LabelledDocuments& recent = topics_.recent;
  for (Index d = 0; d < documents.n_documents(); ++d) {
    const Index to = documents.starts()[d + 1], from = std::max(documents.starts()[d], to - limits_.recent);
    recent.length.push_back(static_cast<int>(to - from));
    recent.mass.push_back(1);
    for (Index i = from; i < to; ++i) documents.append_to(recent, i);
    recent.topic.insert(recent.topic.end(), label.begin() + from, label.begin() + to);
    recent.tables.insert(recent.tables.end(), tables.begin() + from, tables.begin() + to);
  }
  Index first = 0, observations = 0;
  while (recent.n() - observations > limits_.recent) observations += recent.length[first++];
  const auto drop_front = [](auto& list, Index n) {
    if (!list.empty()) list.erase(list.begin(), list.begin() + n);
  };
  drop_front(recent.length, first);
  drop_front(recent.mass, first);
  drop_front(recent.phi, observations * p_);
  for (std::vector<int>* of_observation : {&recent.word, &recent.topic, &recent.tables})
    drop_front(*of_observation, observations);
}

bool TruncationFreeTopics::due() const {
  return topics_.untended >= std::clamp(part_between_tending * total_size(), limits_.fewest_between_tending,
                                        limits_.most_between_tending);
}

}  // namespace bnpvi::topics
