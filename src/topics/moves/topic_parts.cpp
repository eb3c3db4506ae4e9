#include "topics/moves/topic_parts.h"

#include <cmath>
#include <numeric>

#include "topics/moves/part_chain.h"

namespace bnpvi::topics {

namespace {

// log Γ(a + n) / Γ(a).
double log_rising(double a, double n) { return n == 1 ? std::log(a) : -log_gamma_difference(a, n); }

// Word counts of the clusters while parts are added and removed.
class PartClusters {
 public:
  PartClusters(const std::vector<TopicPart>& parts, const Vec& lambda)
      : part_(parts),
        lambda_(lambda),
        total_(std::accumulate(lambda.begin(), lambda.end(), 0.0)),
        empty_(lambda.size(), 0.0) {}

  Index k() const { return static_cast<Index>(parts_.size()); }
  Index parts(Index j) const { return parts_[j]; }

  void log_predictives(Index i, Index n, double* out) const {
    for (Index j = 0; j < n; ++j) out[j] = log_predictive(j, part_[i]);
  }

  void add(Index j, Index i) {
    if (j == k()) {
      counts_.push_back(empty_);
      size_.push_back(0);
      parts_.push_back(0);
    }
    change(j, part_[i], 1);
  }
  void remove(Index j, Index i) { change(j, part_[i], -1); }

  void drop(Index j) {
    counts_[j] = std::move(counts_.back());
    size_[j] = size_.back();
    parts_[j] = parts_.back();
    counts_.pop_back();
    size_.pop_back();
    parts_.pop_back();
  }

  // Log evidence of a cluster's words as a sequence, with its distribution of terms integrated out.
  double log_evidence(Index j) const {
    double sum = -log_rising(total_, size_[j]);
    for (std::size_t w = 0; w < lambda_.size(); ++w)
      if (counts_[j][w] > 0) sum += log_rising(lambda_[w], counts_[j][w]);
    return sum;
  }

 private:
  double log_predictive(Index j, const TopicPart& part) const {
    const Vec& counts = j < k() ? counts_[j] : empty_;
    double sum = -log_rising(total_ + (j < k() ? size_[j] : 0), static_cast<double>(part.n));
    for (std::size_t e = 0; e < part.word.size(); ++e)
      sum += log_rising(lambda_[part.word[e]] + counts[part.word[e]], part.count[e]);
    return sum;
  }

  void change(Index j, const TopicPart& part, int sign) {
    for (std::size_t e = 0; e < part.word.size(); ++e) counts_[j][part.word[e]] += sign * part.count[e];
    size_[j] += static_cast<double>(sign * part.n);
    parts_[j] += sign;
  }

  const std::vector<TopicPart>& part_;
  const Vec& lambda_;
  const double total_;
  const Vec empty_;
  std::vector<Vec> counts_;
  Vec size_;
  std::vector<Index> parts_;
};

}  // namespace

std::vector<int> cluster_parts(const std::vector<TopicPart>& parts, const Vec& lambda, double concentration,
                               Index sweeps, Index most, Stream& stream, Pool& pool) {
  PartClusters clusters(parts, lambda);
  return most_probable_clusters(clusters, static_cast<Index>(parts.size()), concentration, sweeps, most,
                                stream, pool);
}

}  // namespace bnpvi::topics
