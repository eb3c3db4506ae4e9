// Dynamic Means [Campbell and others 2013]: hard clusters that are born, move and die, batch by batch.
#pragma once
#include <vector>

#include "foundation/pool.h"

namespace bnpvi::mixtures {

struct DynamicMeansCosts {
  double lambda;  // cost of a new cluster
  double q;       // cost of using a cluster again, for each batch since it was last used
  double tau;     // how far clusters move from batch to batch
};

/// A cluster as earlier batches left it. centre: φ; weight: w; age: how many batches ago it last had a row
/// (at least 1).
struct DynamicCluster {
  int id;
  double weight;
  Index age;
  Vec centre;
};

/// A cluster that has rows in the present batch, after learning from the batch.
struct BatchCluster {
  int id;
  Index size;
  Vec mean;  // θ, the mean of the cluster after this batch
};

struct DynamicBatch {
  std::vector<int> label;  // ids of the clusters of the rows
  std::vector<BatchCluster> clusters;
  Vec objective;  // the objective J (DynamicMeans) after each sweep
};

/// Clusters the rows x_i of one batch after the other by Dynamic Means. In each batch it lowers the objective
///
///   J = Σ_k { λ [new] + q age [old] + γ ‖θ_k − φ_k‖² + Σ_{i in k} ‖x_i − θ_k‖² } over the clusters in use
///
/// θ_k are the new centres. γ = 1/(1/w + age τ) for old clusters, with centre φ and weight w; γ = 0 for new
/// ones. Two steps alternate until no label changes. First every row, in the given order, goes to the cluster
/// where it costs least; among equal costs to its present cluster, or else to the first. Then θ_k = (γφ_k +
/// Σx_i)/(γ + n_k).
class DynamicMeans {
 public:
  DynamicMeans(Index d, const DynamicMeansCosts& costs) : d_(d), costs_(costs) {}

  /// Learns from a batch of n rows. x: n × d, column-major, columns `ld` apart.
  DynamicBatch add(const double* x, Index n, Index ld, Pool& pool);

 private:
  Index d_;
  DynamicMeansCosts costs_;
  int born_ = 0;
  std::vector<DynamicCluster> known_;
};

}  // namespace bnpvi::mixtures
