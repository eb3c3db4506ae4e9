#include "topics/model/completion.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bnpvi::topics {

namespace {

constexpr int max_rounds = 200;        // this and the next: guesses
constexpr double least_change = 1e-3;  // largest change of a count
constexpr Index step = 64;             // documents a task: a guess

class Completion {
 public:
  Completion(const Dataset& data, const Vec& phi, const Vec& a)
      : data_(data), phi_(phi), a_(a), k_(static_cast<Index>(a.size())), next_(a.size()) {}

  // Expected counts of one document.
  const Vec& counts(Index document) {
    const int from = data_.row_start[document], n = data_.row_start[document + 1] - from;
    r_.assign(static_cast<std::size_t>(n * k_), 0.0);
    counts_.assign(a_.size(), 0.0);
    double change = 1;
    for (int i = 0; i < max_rounds && change > least_change && n > 0; ++i) {
      std::fill(next_.begin(), next_.end(), 0.0);
      for (int u = 0; u < n; ++u) {
        const double* phi = phi_.data() + data_.column[from + u] * k_;
        double *r = r_.data() + u * k_, sum = 0;
        for (Index j = 0; j < k_; ++j) sum += r[j] = phi[j] * (std::max(counts_[j] - r[j], 0.0) + a_[j]);
        const double count = data_.value[from + u];
        for (Index j = 0; j < k_; ++j) next_[j] += count * (r[j] /= sum);
      }
      change = 0;
      for (Index j = 0; j < k_; ++j) change = std::max(change, std::abs(next_[j] - counts_[j]));
      counts_.swap(next_);
    }
    return counts_;
  }

 private:
  const Dataset& data_;
  const Vec& phi_;
  const Vec& a_;
  Index k_;
  Vec r_, counts_, next_;
};

class Predictive {
 public:
  Predictive(const Dataset& seen, const Vec& e, const Vec& total, const Vec& a)
      : seen_(seen), e_(e), total_(total), a_(a), k_(static_cast<Index>(a.size())), next_(a.size()) {}

  // Expected assignments of the seen tokens of a document.
  void learn(Index document) {
    from_ = seen_.row_start[document];
    n_ = seen_.row_start[document + 1] - from_;
    r_.assign(static_cast<std::size_t>(n_ * k_), 0.0);
    counts_.assign(a_.size(), 0.0);
    double change = 1;
    for (int i = 0; i < max_rounds && change > least_change && n_ > 0; ++i) {
      std::fill(next_.begin(), next_.end(), 0.0);
      for (int u = 0; u < n_; ++u) {
        const double* e = e_.data() + seen_.column[from_ + u] * k_;
        const double count = seen_.value[from_ + u];
        double *r = r_.data() + u * k_, sum = 0;
        for (Index j = 0; j < k_; ++j) {
          const double others = std::max(counts_[j] - r[j], 0.0);
          sum += r[j] = (e[j] + (count - 1) * r[j]) / (total_[j] + others) * (others + a_[j]);
        }
        for (Index j = 0; j < k_; ++j) next_[j] += count * (r[j] /= sum);
      }
      change = 0;
      for (Index j = 0; j < k_; ++j) change = std::max(change, std::abs(next_[j] - counts_[j]));
      counts_.swap(next_);
    }
  }

  // Probability of another token of this term in the document of the last call of learn().
  double probability(int term) const {
    const int* first = seen_.column + from_;
    const int* at = std::find(first, first + n_, term);
    const double* e = e_.data() + term * k_;
    double p = 0, all = 0;
    for (Index j = 0; j < k_; ++j) {
      double count = e[j];
      if (at != first + n_) count += seen_.value[at - seen_.column] * r_[(at - first) * k_ + j];
      const double weight = counts_[j] + a_[j];
      p += weight * count / (total_[j] + counts_[j]);
      all += weight;
    }
    return p / all;
  }

 private:
  const Dataset& seen_;
  const Vec& e_;
  const Vec& total_;
  const Vec& a_;
  Index k_;
  int from_ = 0, n_ = 0;
  Vec r_, counts_, next_;
};

}  // namespace

Vec predictive_probabilities(const Dataset& seen, const Dataset& held, const Vec& e, const Vec& a,
                             Pool& pool) {
  Vec total(a.size(), 0.0), out(static_cast<std::size_t>(held.row_start[held.n]));
  for (std::size_t i = 0; i < e.size(); ++i) total[i % a.size()] += e[i];
  pool.run((seen.n + step - 1) / step, [&](Index task) {
    Predictive predictive(seen, e, total, a);
    for (Index d = task * step; d < std::min(seen.n, (task + 1) * step); ++d) {
      pool.poll();
      predictive.learn(d);
      for (int i = held.row_start[d]; i < held.row_start[d + 1]; ++i)
        out[i] = predictive.probability(held.column[i]);
    }
  });
  return out;
}

Vec collapsed_proportions(const Dataset& data, const Vec& phi, const Vec& a, Pool& pool) {
  const Index n = data.n, k = static_cast<Index>(a.size());
  Vec out(static_cast<std::size_t>(n * k));
  pool.run((n + step - 1) / step, [&](Index task) {
    Completion completion(data, phi, a);
    for (Index d = task * step; d < std::min(n, (task + 1) * step); ++d) {
      pool.poll();
      const Vec& counts = completion.counts(d);
      const double total =
          std::accumulate(counts.begin(), counts.end(), std::accumulate(a.begin(), a.end(), 0.0));
      for (Index j = 0; j < k; ++j) out[j * n + d] = (counts[j] + a[j]) / total;
    }
  });
  return out;
}

}  // namespace bnpvi::topics
