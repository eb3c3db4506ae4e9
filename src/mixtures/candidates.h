// Visits in which a row is compared with only a few of many clusters, its candidates. Only for L-sparse
// responsibilities: a row has at most L clusters.
#pragma once
#include "inference/data/summary.h"
#include "inference/moves/neighbours.h"
#include "observations/feature_block.h"

namespace bnpvi::mixtures {

/// A memory of n rows with `width` numbers for each: the clusters with a positive responsibility for the row
/// at its last visit (its support), the best one first; −1 for a cluster that no longer exists. last: the
/// previous memory, from which the number of visits is continued; or null.
///
/// The support of the last visit is always among the candidates of the next, so that the optimum over the
/// candidates is not below the present q(z), and the ELBO never falls. Between visits the support follows
/// merges, drops and permutations; births move mass to newborn clusters only, which are candidates of every
/// row. A move that moves mass in any other way must drop the memory, as deletes do.
std::shared_ptr<UnitMemory> row_memory(Index n, Index k, Index width, const UnitMemory* last);

/// Stores the support of a row (the clusters with responsibilities in row `row` of r) as that of position i
/// of the batch.
void remember_row(UnitMemory& memory, Index i, const Responsibilities& r, Index row);

/// True at visits 4, 8, 16, ... At these, rows are compared with all clusters, since clusters move, most of
/// all at the beginning, and the best one may have left the candidates. (The rhythm is a guess.)
bool all_clusters_due(const UnitMemory& memory);

/// Positions 0 .. n−1 of a batch, sorted by the best cluster of each row at its last visit; in ascending
/// order where that is the same.
std::vector<Index> by_best_cluster(const SupportTable& support, Index n, Index k);

/// Computes responsibilities of a block of rows from their candidates only. Working memory of one thread.
class CandidateStep {
 public:
  CandidateStep(const Weights& weights, const Vec& log_pi, const Neighbours& neighbours,
                const UnitMemory& memory, const std::vector<int>& owner, Index width);

  /// Responsibilities of the rows loaded in `block`. position: their positions in the batch, sorted by best
  /// cluster. Rows with the same best cluster share their candidates: its neighbours, the supports of all of
  /// these rows, and newborn clusters. Adds their entropy to `entropy`.
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
