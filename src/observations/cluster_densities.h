// Densities of rows in each of some clusters.
#pragma once
#include "foundation/shared_vec.h"
#include "observations/feature_block.h"

namespace bnpvi {

/// p(x | cluster) averaged over the posterior of the cluster's parameters, or at ObsModel::point_estimate().
enum class DensityAt { posterior, point_estimate };

/// log p(x | cluster) − log h(x) of rows under K clusters.
class ClusterDensities {
 public:
  /// t: statistics of clusters (p numbers each), as many as there are; those of the K after them are 0.
  /// names: of those that there are (NamedClusters), or none.
  ClusterDensities(const ObsModel& obs, const SharedVec& t, Index k, DensityAt at,
                   std::vector<int> names = {});

  Index k() const { return k_; }

  /// Of the loaded rows, of what is observed of them: K × n, a row for each cluster. At point estimates, rows
  /// so far out that their squares overflow have the density of where features() brings them.
  void of(FeatureBlock& block, Vec& out) const;

 private:
  const ObsModel& model_of(Index j) const;

  const ObsModel& obs_;
  Index k_, p_;
  std::vector<int> names_;
  Vec t_;            // K × p; empty for point estimates
  Weights weights_;  // of these; else empty
};

}  // namespace bnpvi
