// Updates of q(z) in which a row is compared with only a few of many clusters, its candidates. Only for
// L-sparse responsibilities, with which a row has at most L clusters.
#pragma once
#include "inference/data/summary.h"
#include "inference/moves/neighbours.h"
#include "observations/feature_block.h"

namespace bnpvi::mixtures {

/// Creates a memory of the clusters of n rows: for each row up to `width` clusters with a positive
/// responsibility at its last visit (its support), the best one first; −1 for a cluster that no longer
/// exists. last: the memory of the visit before, from which the number of visits continues; or null.
///
/// The support of the last visit is always among the candidates of the next, so that the optimum over the
/// candidates is not below the present q(z), and the ELBO never falls. Between visits the memory is changed
/// with merges, drops and permutations of clusters; births move mass only to new clusters, which are
/// candidates of every row. A move that moves mass in any other way must drop the memory, as deletes do.
std::shared_ptr<UnitMemory> row_memory(Index n, Index k, Index width, const UnitMemory* last);

/// Stores the clusters of the row at position i of the batch: those with responsibilities in row `row` of r.
void remember_row(UnitMemory& memory, Index i, const Responsibilities& r, Index row);

/// True at visits 4, 8, 16, ... of a batch. Rows are then compared with all clusters: clusters move, most of
/// all at the beginning, and a row's best one may no longer be among its candidates. (The rhythm is a guess.)
bool all_clusters_due(const UnitMemory& memory);

/// Positions 0 .. n−1 of the rows of a batch, sorted by each row's best cluster at its last visit, and
/// ascending where that cluster is the same.
std::vector<Index> by_best_cluster(const SupportTable& support, Index n, Index k);

/// Computes responsibilities of a block of rows, comparing each row with its candidate clusters only. Working
/// memory of one thread.
class CandidateStep {
 public:
  CandidateStep(const Weights& weights, const Vec& log_pi, const Neighbours& neighbours,
                const UnitMemory& memory, const std::vector<int>& owner, Index width);

  /// Computes responsibilities r of the rows loaded in `block`, and adds their entropy to `entropy`.
  /// position: the rows' positions in the batch, sorted by best cluster (by_best_cluster()). Rows with the
  /// same best cluster share their candidates: the clusters near it, the clusters that any of these rows had
  /// at its last visit, and clusters that were added since.
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
