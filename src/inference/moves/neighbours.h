// Nearest clusters of each cluster.
#pragma once
#include "foundation/pool.h"
#include "inference/data/summary.h"
#include "observations/feature_block.h"

namespace bnpvi {

/// The clusters nearest to each cluster, for the visits of one lap.
struct Neighbours {
  Index k = 0;
  Index width = 0;
  std::vector<int> cluster;  // numbers of the `width` nearest clusters of each cluster, K × width

  const int* of(Index j) const { return cluster.data() + j * width; }
};

/// For each cluster j the `width` clusters l with the largest ⟨T_j / N_j, w_l⟩ + E log π_l, w_l being the
/// weights of cluster l. This is the score of the mean features of j under l, computed by one matrix product
/// for all clusters, with any observation model.
Neighbours nearest_clusters(const Summary& effective, const Weights& weights, const Vec& log_pi, Index width,
                            Pool& pool);

}  // namespace bnpvi
