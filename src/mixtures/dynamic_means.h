// Dynamic Means [Campbell and others 2013]: hard clusters that are born, move and die, batch by batch.
#pragma once
#include <vector>

#include "foundation/pool.h"

namespace bnpvi::mixtures {

struct DynamicMeansCosts {
  double lambda;  // of a new cluster
  double q;       // of a cluster that comes back, for each batch since it was last seen
  double tau;     // how far clusters move from batch to batch
};

/// A cluster as the batches before left it: centre φ and weight w, last seen `age` ≥ 1 batches ago.
struct DynamicCluster {
  int id;
  double weight;
  Index age;
  Vec centre;
};

/// What a batch made of a cluster that has rows in it.
struct BatchCluster {
  int id;
  Index size;
  Vec mean;  // θ
};

struct DynamicBatch {
  std::vector<int> label;  // ids of the rows
  std::vector<BatchCluster> clusters;
  Vec objective;  // J after each sweep
};

/// With γ = 1/(1/w + age τ) for old clusters and 0 for new ones,
///
///   J = Σ_k { λ [new] + q age [old] + γ ‖θ_k − φ_k‖² + Σ_{i in k} ‖x_i − θ_k‖² } over the clusters in use,
///
/// is lowered by turns: every row, in the order in which they come, goes where it costs least (a tie: where
/// it is, or to the cluster that came first), and θ_k = (γφ_k + Σx_i)/(γ + n_k), until no label changes.
class DynamicMeans {
 public:
  DynamicMeans(Index d, const DynamicMeansCosts& costs) : d_(d), costs_(costs) {}

  /// Takes in n rows (n × d by columns, `ld` apart).
  DynamicBatch add(const double* x, Index n, Index ld, Pool& pool);

 private:
  Index d_;
  DynamicMeansCosts costs_;
  int born_ = 0;
  std::vector<DynamicCluster> known_;
};

}  // namespace bnpvi::mixtures
