// For each cluster, the clusters nearest to it.
#pragma once
#include "foundation/pool.h"
#include "inference/data/summary.h"
#include "observations/feature_block.h"

namespace bnpvi {

/// The clusters nearest to each cluster, computed once for all visits of a pass over the data.
struct Neighbours {
  Index k = 0;
  Index width = 0;
  std::vector<int> cluster;  // numbers of the `width` nearest clusters of each cluster, K × width

  const int* of(Index j) const { return cluster.data() + j * width; }
};

/// Finds for each cluster j the `width` clusters l that fit the mean of its rows best. These have the largest
///   ⟨T_j / N_j, w_l⟩ + E log π_l
/// T_j / N_j: mean features of cluster j; w_l: weights of cluster l; log_pi: E log π. It works with any
/// observation model, by one matrix product.
Neighbours nearest_clusters(const Summary& effective, const Weights& weights, const Vec& log_pi, Index width,
                            Pool& pool);

}  // namespace bnpvi
