#include "mixtures/draw_predictives.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "foundation/special.h"
#include "sampling/labels.h"

namespace bnpvi::mixtures {

namespace {

constexpr Index rows_at_once = 256;  // rows in each task: a guess

double log_add(double a, double b) {
  const double most = std::max(a, b);
  return std::isinf(most) ? most : most + std::log(std::exp(a - most) + std::exp(b - most));
}

}  // namespace

DrawPredictives::DrawPredictives(const ObsModel& obs, const RowFeatures& rows, const std::vector<int>& point,
                                 const RowFeatures& new_rows)
    : obs_(obs),
      rows_(rows),
      new_rows_(new_rows),
      point_(point),
      k_(number_of_clusters(point)),
      log_sum_(static_cast<std::size_t>(new_rows.n()), -std::numeric_limits<double>::infinity()),
      together_(static_cast<std::size_t>(new_rows.n() * k_), 0.0) {}

void DrawPredictives::add(const std::vector<int>& label, const PartitionPrior& prior, Pool& pool) {
  const Index k = number_of_clusters(label), p = rows_.p(), n = rows_.n();
  Vec t(static_cast<std::size_t>((k + 1) * p), 0.0), share(static_cast<std::size_t>(k * k_), 0.0);
  std::vector<Index> count(static_cast<std::size_t>(k), 0);
  for (Index i = 0; i < n; ++i) {
    rows_.add_to(t.data() + label[i] * p, i);
    ++count[label[i]];
    share[label[i] * k_ + point_[i]] += 1;
  }
  Vec log_weight(static_cast<std::size_t>(k + 1));
  const double all = prior.odds_of_any(static_cast<double>(n));
  for (Index b = 0; b < k; ++b) {
    log_weight[b] = std::log(prior.odds_of(static_cast<double>(count[b])) / all);
    for (Index a = 0; a < k_; ++a) share[b * k_ + a] /= static_cast<double>(count[b]);
  }
  log_weight[k] = std::log(prior.odds_of_new(k) / all);
  ++n_draws_;
  const Index m = new_rows_.n();
  pool.run((m + rows_at_once - 1) / rows_at_once, [&](Index task) {
    pool.poll();
    const Index from = task * rows_at_once, size = std::min(rows_at_once, m - from);
    Vec features(static_cast<std::size_t>(size * p)), log_p(static_cast<std::size_t>((k + 1) * size));
    for (Index i = 0; i < size; ++i) {
      double* to = features.data() + i * p;
      const double* row = new_rows_.of(from + i, to);
      if (row != to) std::copy_n(row, p, to);
    }
    for (Index b = 0; b <= k; ++b)
      obs_.log_predictive(t.data() + b * p, features.data(), size, p, log_p.data() + b * size);
    for (Index i = 0; i < size; ++i) {
      double sum = -std::numeric_limits<double>::infinity();
      for (Index b = 0; b <= k; ++b) sum = log_add(sum, log_p[b * size + i] += log_weight[b]);
      log_sum_[from + i] = log_add(log_sum_[from + i], sum);
      for (Index b = 0; b < k; ++b) {
        const double probability = std::exp(log_p[b * size + i] - sum);
        for (Index a = 0; a < k_; ++a) together_[(from + i) * k_ + a] += probability * share[b * k_ + a];
      }
    }
  });
}

Vec DrawPredictives::log_density() const {
  Vec out = log_sum_;
  for (double& x : out) x -= std::log(static_cast<double>(n_draws_));
  return out;
}

}  // namespace bnpvi::mixtures
