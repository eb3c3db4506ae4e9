#include "topics/streams/truncation_free_topics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/special.h"
#include "hdp/tables.h"
#include "observations/capabilities.h"
#include "topics/model/document_tables.h"

namespace bnpvi::topics {

namespace {

// Guesses.
constexpr Index draws_of_score = 10;
constexpr StreamLimits limits_of_tokens{50000, 1e4, 1e5};

// The sum of two vectors; missing entries of the shorter one count as 0.
Vec sum_of(const Vec& shorter, Vec longer) {
  for (std::size_t j = 0; j < shorter.size(); ++j) longer[j] += shorter[j];
  return longer;
}

}  // namespace

TruncationFreeTopics::TruncationFreeTopics(const ObsModel& obs, const TopicPrior& prior,
                                           const TruncationFreeOptions& options, std::uint64_t seed,
                                           RunningTopics& topics, Pool& pool)
    : TruncationFree(obs, options, seed, topics, pool,
                     obs.capabilities().tokens ? limits_of_tokens : StreamLimits::of_rows(obs)),
      prior_(prior),
      topics_(topics) {}

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
  return documents.log_predictive(topics_.t, weight, draws_of_score, stream(2).next(), pool_);
}

TopWeights TruncationFreeTopics::draw_weights(const Vec& tables, double gamma, Stream& stream) const {
  if (prior_.k > 0) return TopWeights::equal(prior_.k, static_cast<Index>(tables.size()));
  return TopWeights::of(draw_top_weights(tables, gamma, stream));
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

bool TruncationFreeTopics::is_left(Index j, double keep) const {
  return TruncationFree::is_left(j, keep) && (prior_.k > 0 || keep * topics_.tables[j] > 0);
}

Vec TruncationFreeTopics::draw(const Documents& documents, const Faded& faded, double keep,
                               std::vector<int>& label) {
  Vec earlier;
  for (Index j : faded.kept) earlier.push_back(prior_.k > 0 ? 0 : keep * topics_.tables[j]);
  const std::vector<Index>& starts = documents.starts();
  const std::unique_ptr<ObservationUrns> urns = documents.urns();
  urns->begin_with(faded.t.data(), static_cast<Index>(earlier.size()));
  Stream random = stream(0);
  double alpha = topics_.alpha, gamma = topics_.gamma;
  TopWeights weights = draw_weights(earlier, gamma, random);
  DocumentDraws draws(starts, *urns, weights, pool_, options_.most_clusters);
  draws.place_all(label, alpha, gamma, random);
  std::vector<int> tables = draw_tables_of(starts, label, weights.beta, earlier, alpha, gamma, random);
  const auto with_earlier = [&] {
    return sum_of(earlier, tables_by_topic(tables, label, weights.beta.size()));
  };
  for (Index sweep = 1; sweep < options_.sweeps; ++sweep) {
    weights = draw_weights(with_earlier(), gamma, random);
    draws.draw_all(label, alpha, gamma, random);
    tables = draw_tables_of(starts, label, weights.beta, earlier, alpha, gamma, random);
  }
  capped_ = capped_ || draws.capped();
  Vec all_tables = with_earlier();
  drawn_ = {std::move(tables), std::move(all_tables), alpha, gamma};
  return urns->statistics(faded.t, label, Vec(label.size(), 1.0));
}

void TruncationFreeTopics::remember(const Documents& documents, const std::vector<int>& label, double keep) {
  RunningTopics& c = topics_;
  c.alpha_shape *= keep;
  c.alpha_rate *= keep;
  c.alpha_shape += std::accumulate(drawn_.tables.begin(), drawn_.tables.end(), 0.0);
  for (Index d = 0; d < documents.n_documents(); ++d) {
    const auto n = static_cast<double>(documents.starts()[d + 1] - documents.starts()[d]);
    c.alpha_shape -= n / (n + drawn_.alpha);
    c.alpha_rate += digamma(drawn_.alpha + 1 + n) - digamma(drawn_.alpha + 1);
  }
  for (double& mass : c.recent.mass) mass *= keep;
  c.tables = drawn_.all_tables;
  c.alpha = drawn_.alpha;
  c.gamma = drawn_.gamma;
  keep_recent(documents, label);
}

void TruncationFreeTopics::keep_recent(const Documents& documents, const std::vector<int>& label) {
  const std::vector<int>& tables = drawn_.tables;
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

}  // namespace bnpvi::topics
