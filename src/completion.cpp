#include "completion.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bnpvi {

namespace {

constexpr int max_rounds = 200;
constexpr double settled = 1e-3;  // largest change of a count
constexpr Index step = 64;        // documents a task

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
    for (int i = 0; i < max_rounds && change > settled && n > 0; ++i) {
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

}  // namespace

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

}  // namespace bnpvi
