#include "observations/cluster_densities.h"

#include <utility>

#include "observations/named_clusters.h"

namespace bnpvi {

ClusterDensities::ClusterDensities(const ObsModel& obs, const SharedVec& t, Index k, DensityAt at,
                                   std::vector<int> names)
    : obs_(obs), k_(k), p_(obs.n_features()), names_(std::move(names)) {
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
    model_of(j).point_estimate(all.data() + j * p_, mean.data(), weights_.w.data() + j * p_);
  if (has_entries(obs)) weights_.transpose();
}

const ObsModel& ClusterDensities::model_of(Index j) const {
  return j < static_cast<Index>(names_.size()) ? under_name(obs_, names_[j]) : obs_;
}

void ClusterDensities::of(FeatureBlock& block, Vec& out) const {
  const Index n = block.n();
  out.resize(static_cast<std::size_t>(k_ * n));
  if (!t_.empty()) {
    for (Index j = 0; j < k_; ++j) {
      const ObsModel& model = model_of(j);
      if (&model == &obs_)
        block.log_predictive(t_.data() + j * p_, out.data() + j * n);
      else
        model.log_predictive(t_.data() + j * p_, block.features(), n, block.ld(), out.data() + j * n);
    }
    return;
  }
  Vec by_row(out.size());
  block.times(weights_, by_row.data());
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < k_; ++j) out[j * n + i] = by_row[i * k_ + j];
}

}  // namespace bnpvi
