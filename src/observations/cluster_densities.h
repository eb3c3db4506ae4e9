// Log densities of rows under each of several clusters.
#pragma once
#include "foundation/shared_vec.h"
#include "observations/feature_block.h"

namespace bnpvi {

/// How a density of a cluster is computed: averaged over the posterior of the cluster's parameters, or at
/// their point estimate (ObsModel::point_estimate()).
enum class DensityAt { posterior, point_estimate };

/// The log densities log p(x | cluster) − log h(x) of rows under K clusters, where h is the base measure of
/// the model (BaseMeasure).
class ClusterDensities {
 public:
  /// t: the statistics of the first clusters, p numbers each. If there are fewer than k, the other clusters
  /// have no data (T = 0). names: the names of these first clusters (NamedClusters); empty if none has a
  /// name.
  ClusterDensities(const ObsModel& obs, const SharedVec& t, Index k, DensityAt at,
                   std::vector<int> names = {});

  Index k() const { return k_; }

  /// Computes the log densities of the rows loaded in `block`, given their observed cells. out: K × n, one
  /// row for each cluster. A row so far out that its squares overflow is moved nearer by features(); at point
  /// estimates it gets the density of the nearer point.
  void of(FeatureBlock& block, Vec& out) const;

 private:
  const ObsModel& model_of(Index j) const;

  const ObsModel& obs_;
  Index k_, p_;
  std::vector<int> names_;
  Vec t_;            // statistics of the clusters, K × p; empty for point estimates
  Weights weights_;  // weights at the point estimates; otherwise empty
};

}  // namespace bnpvi
