#include "observations/cluster_densities.h"

#include <utility>

namespace bnpvi {

ClusterDensities::ClusterDensities(const ObsModel& obs, const SharedVec& t, Index k, DensityAt at)
    : k_(k), p_(obs.n_features()) {
  Vec all(t.begin(), t.end());
  all.resize(static_cast<std::size_t>(k_ * p_), 0.0);
  if (at == DensityAt::posterior) {
    t_ = std::move(all);
    return;
  }
  Vec mean(static_cast<std::size_t>(p_));
  weights_.k = k_;
  weights_.p = p_;
  weights_.w.resize(all.size());
  for (Index j = 0; j < k_; ++j)
    obs.point_estimate(all.data() + j * p_, mean.data(), weights_.w.data() + j * p_);
  if (has_entries(obs)) weights_.transpose();
}

void ClusterDensities::of(FeatureBlock& block, Vec& out) const {
  const Index n = block.n();
  out.resize(static_cast<std::size_t>(k_ * n));
  if (!t_.empty()) {
    for (Index j = 0; j < k_; ++j) block.log_predictive(t_.data() + j * p_, out.data() + j * n);
    return;
  }
  Vec by_row(out.size());
  block.times(weights_, by_row.data());
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < k_; ++j) out[j * n + i] = by_row[i * k_ + j];
}

}  // namespace bnpvi
