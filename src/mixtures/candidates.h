// Updates of q(z) that compare a row with a few clusters only, its candidates. For L-sparse responsibilities,
// with which a row has at most L clusters.
#pragma once
#include "inference/data/summary.h"
#include "inference/moves/neighbours.h"
#include "observations/feature_block.h"

namespace bnpvi::mixtures {

/// Creates a memory of the clusters of n rows. For each row it has up to `width` clusters with a positive
/// responsibility at its last visit (its support), the best one first; −1 for a cluster that no longer
/// exists. last: the memory of the visit before, or null. The number of visits is continued from it.
///
/// The support of the last visit is always among the candidates of the next. So the optimum over the
/// candidates is not below the present q(z), and the ELBO never falls. Merges, drops and permutations of
/// clusters change the memory accordingly. Births move mass only to new clusters, which are candidates of
/// every row. Moves that move mass in other ways, such as deletes, must drop the memory.
std::shared_ptr<UnitMemory> row_memory(Index n, Index k, Index width, const UnitMemory* last);

/// Stores the clusters of the row at position i of the batch: those with responsibilities in row `row` of r.
void remember_row(UnitMemory& memory, Index i, const Responsibilities& r, Index row);

/// True at visits 4, 8, 16, ... of a batch, in which rows are compared with all clusters. Clusters move,
/// mostly at the beginning, so the best one of a row may no longer be among its candidates. (The rhythm is a
/// guess.)
bool all_clusters_due(const UnitMemory& memory);

/// Positions 0 .. n − 1 of the rows of a batch, sorted by the best cluster of each row at its last visit.
/// Rows with the same best cluster are in ascending order.
std::vector<Index> by_best_cluster(const SupportTable& support, Index n, Index k);

/// Computes responsibilities of a block of rows from their candidates alone. Working memory of one thread.
class CandidateStep {
 public:
  CandidateStep(const Weights& weights, const Vec& log_pi, const Neighbours& neighbours,
                const UnitMemory& memory, const std::vector<int>& owner, Index width);

  /// Computes the responsibilities r of the rows loaded in `block`, and adds their entropy to `entropy`.
  /// position: the positions of the rows in the batch, sorted by best cluster (by_best_cluster()). Rows with
  /// the same best cluster share their candidates. These are the clusters near the best one, the clusters
  /// that any of these rows had at its last visit, and clusters that were added since.
  void responsibilities(const FeatureBlock& block, const Index* position, Responsibilities& r,
                        double& entropy);

 private:
  void choose(const Index* position, Index n);

  const Weights& weights_;
  const Vec& log_pi_;
  const Neighbours& neighbours_;
  const SupportTable& support_;
  const std::vector<int>& owner_;  // class that owns each cluster (class_sets.h)
  Index width_;
  std::vector<int> born_, chosen_, owner_of_chosen_;
  std::vector<bool> is_chosen_;
  Vec score_, by_row_;
};

}  // namespace bnpvi::mixtures
