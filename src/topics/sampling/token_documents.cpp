#include "topics/sampling/token_documents.h"

#include <algorithm>
#include <numeric>

#include "observations/capabilities.h"
#include "sampling/truncation_free.h"
#include "topics/moves/topic_parts.h"
#include "topics/sampling/token_urns.h"

namespace bnpvi::topics {

TokenDocuments::TokenDocuments(const ObsModel& obs, const Dataset& counts)
    : TokenDocuments(obs, Tokens(counts)) {}

TokenDocuments::TokenDocuments(const ObsModel& obs, Tokens tokens)
    : Documents(std::move(tokens.starts)),
      lambda_(obs.capabilities().tokens->pseudo_counts()),
      total_(std::accumulate(lambda_.begin(), lambda_.end(), 0.0)),
      p_(obs.n_features()),
      word_(std::move(tokens.word)) {}

TokenDocuments::TokenDocuments(const ObsModel& obs, const LabelledDocuments& record)
    : Documents(starts_of(record)),
      lambda_(obs.capabilities().tokens->pseudo_counts()),
      total_(std::accumulate(lambda_.begin(), lambda_.end(), 0.0)),
      p_(obs.n_features()),
      word_(record.word) {}

std::unique_ptr<ObservationUrns> TokenDocuments::urns() const {
  return std::make_unique<TokenUrns>(word_, lambda_);
}

void TokenDocuments::add_to(double* t, Index i, double mass) const {
  t[0] += mass;
  t[1 + word_[i]] += mass;
}

void TokenDocuments::append_to(LabelledDocuments& record, Index i) const { record.word.push_back(word_[i]); }

double TokenDocuments::log_predictive(const Vec& t, const Vec& a, Index draws, std::uint64_t seed,
                                      Pool& pool) const {
  const Index k = static_cast<Index>(t.size()) / p_, n = static_cast<Index>(a.size()), v = p_ - 1;
  Vec phi(static_cast<std::size_t>(n * v));
  for (Index j = 0; j < n; ++j)
    for (Index w = 0; w < v; ++w)
      phi[w * n + j] = j < k ? (t[j * p_ + 1 + w] + lambda_[w]) / (t[j * p_] + total_) : lambda_[w] / total_;
  return sequential_sum(word_, phi, a, draws, seed, pool);
}

bool TokenDocuments::mend(double* t, double /*size_before*/) const {
  for (Index f = 0; f < p_; ++f) t[f] = std::max(0.0, t[f]);
  return true;
}

std::vector<int> TokenDocuments::cluster(const std::vector<std::vector<Index>>& parts, Index most,
                                         Stream& stream, Pool& pool) const {
  std::vector<TopicPart> counted;
  std::vector<int> count(static_cast<std::size_t>(p_ - 1), 0);
  for (const auto& tokens : parts) {
    TopicPart part;
    part.n = static_cast<Index>(tokens.size());
    for (Index i : tokens)
      if (count[word_[i]]++ == 0) part.word.push_back(word_[i]);
    for (int w : part.word) {
      part.count.push_back(count[w]);
      count[w] = 0;
    }
    counted.push_back(std::move(part));
  }
  return cluster_parts(counted, lambda_, 1, sweeps_of_split, most, stream, pool);
}

Vec TokenDocuments::divided(const double* t, const Vec& latest) const {
  const Index k = static_cast<Index>(latest.size()) / p_;
  Vec out(latest.size(), 0.0), share(static_cast<std::size_t>(k));
  for (Index f = 1; f < p_; ++f) {
    double all = 0, sum = 0;
    for (Index a = 0; a < k; ++a) {
      const double n = latest[a * p_], has = latest[a * p_ + f];
      all += has;
      sum += share[a] = n * (has + lambda_[f - 1]) / (n + total_);
    }
    const double earlier = std::max(0.0, t[f] - all);
    for (Index a = 0; a < k; ++a) {
      const double has = std::min(latest[a * p_ + f], t[f]) + earlier * share[a] / sum;
      out[a * p_ + f] = has;
      out[a * p_] += has;
    }
  }
  return out;
}

}  // namespace bnpvi::topics
