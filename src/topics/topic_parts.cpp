#include "topics/topic_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/special.h"
#include "sampling/labels.h"

namespace bnpvi::topics {

namespace {

// log Γ(a + n) / Γ(a).
double log_rising(double a, double n) { return n == 1 ? std::log(a) : -log_gamma_difference(a, n); }

// Words of the clusters while parts come and go.
class PartClusters {
 public:
  explicit PartClusters(const Vec& lambda)
      : lambda_(lambda),
        total_(std::accumulate(lambda.begin(), lambda.end(), 0.0)),
        empty_(lambda.size(), 0.0) {}

  Index k() const { return static_cast<Index>(parts_.size()); }
  Index parts(Index j) const { return parts_[j]; }

  // log p(part | cluster j); j = K: a new one.
  double log_predictive(Index j, const TopicPart& part) const {
    const Vec& counts = j < k() ? counts_[j] : empty_;
    double sum = -log_rising(total_ + (j < k() ? size_[j] : 0), static_cast<double>(part.n));
    for (std::size_t e = 0; e < part.word.size(); ++e)
      sum += log_rising(lambda_[part.word[e]] + counts[part.word[e]], part.count[e]);
    return sum;
  }

  void add(Index j, const TopicPart& part, double sign = 1) {
    if (j == k()) {
      counts_.push_back(empty_);
      size_.push_back(0);
      parts_.push_back(0);
    }
    for (std::size_t e = 0; e < part.word.size(); ++e) counts_[j][part.word[e]] += sign * part.count[e];
    size_[j] += sign * static_cast<double>(part.n);
    parts_[j] += sign > 0 ? 1 : -1;
  }

  // Cluster K − 1 gets the number j.
  void drop(Index j) {
    counts_[j] = std::move(counts_.back());
    size_[j] = size_.back();
    parts_[j] = parts_.back();
    counts_.pop_back();
    size_.pop_back();
    parts_.pop_back();
  }

  // log p(parts, clusters), but for a constant.
  double log_joint(double concentration) const {
    double sum = 0;
    for (Index j = 0; j < k(); ++j)
      sum += std::log(concentration) + log_gamma(static_cast<double>(parts_[j])) +
             log_evidence_of_counts(counts_[j], size_[j], lambda_);
    return sum;
  }

 private:
  const Vec& lambda_;
  const double total_;
  const Vec empty_;
  std::vector<Vec> counts_;
  Vec size_;
  std::vector<Index> parts_;
};

}  // namespace

double log_evidence_of_counts(const Vec& counts, double n, const Vec& lambda) {
  double sum = -log_rising(std::accumulate(lambda.begin(), lambda.end(), 0.0), n);
  for (std::size_t w = 0; w < counts.size(); ++w)
    if (counts[w] > 0) sum += log_rising(lambda[w], counts[w]);
  return sum;
}

std::vector<int> cluster_parts(const std::vector<TopicPart>& parts, const Vec& lambda, double concentration,
                               Index sweeps, Index most, Stream& stream, Pool& pool) {
  PartClusters clusters(lambda);
  const Index n = static_cast<Index>(parts.size());
  std::vector<int> label(parts.size(), 0), best(label);
  Vec log_p, p;
  const auto place = [&](Index i) {
    pool.poll();
    const Index k = clusters.k();
    log_p.assign(static_cast<std::size_t>(k < most ? k + 1 : k), 0.0);
    for (Index j = 0; j < static_cast<Index>(log_p.size()); ++j)
      log_p[j] = std::log(j < k ? static_cast<double>(clusters.parts(j)) : concentration) +
                 clusters.log_predictive(j, parts[i]);
    const double top = *std::max_element(log_p.begin(), log_p.end());
    for (double& x : log_p) x = std::exp(x - top);
    label[i] = static_cast<int>(draw(log_p, stream));
    clusters.add(label[i], parts[i]);
  };
  for (Index i : shuffled(n, stream)) place(i);
  double most_probable = -HUGE_VAL;
  for (Index sweep = 0; sweep < sweeps; ++sweep) {
    for (Index i = 0; i < n; ++i) {
      const int from = label[i];
      clusters.add(from, parts[i], -1);
      if (clusters.parts(from) == 0) {
        const int last = static_cast<int>(clusters.k()) - 1;
        clusters.drop(from);
        label[i] = -1;
        std::replace(label.begin(), label.end(), last, from);
      }
      place(i);
    }
    const double now = clusters.log_joint(concentration);
    if (now > most_probable) most_probable = now, best = label;
  }
  return best;
}

}  // namespace bnpvi::topics
