// Which clusters a row is compared with when there are many.
#pragma once
#include "inference/neighbours.h"
#include "inference/summary.h"
#include "observations/feature_block.h"

namespace bnpvi::mixtures {

/// Memories of single rows: the support of every row's L-sparse responsibilities at its last visit, the best
/// cluster first; −1 for a cluster that is gone.
///
/// A visit that looks at these clusters among others finds an optimum that is not below the present q(z), so
/// the ELBO never falls although few clusters are looked at. Between visits the support follows merges, drops
/// and permutations; a birth gives mass to newborn clusters only, and those are looked at by every row.
/// Whoever moves mass in other ways must forget the memory (deletes do).
std::shared_ptr<UnitMemory> row_memory(Index n, Index k, Index width, const UnitMemory* last);

/// The support of the row at position i of its batch, from row `row` of some responsibilities.
void remember_row(UnitMemory& memory, Index i, const Responsibilities& r, Index row);

/// Clusters move, and most in the beginning: at visits 4, 8, 16, ... all of them are looked at again.
bool all_clusters_due(const UnitMemory& memory);

/// Positions 0 .. n−1 of a batch by the best cluster of their last visit, ascending within a cluster.
std::vector<Index> by_best_cluster(const SupportTable& support, Index n, Index k);

/// Scratch of one thread: responsibilities of a block of rows from few scores each.
class CandidateStep {
 public:
  CandidateStep(const Weights& weights, const Vec& log_pi, const Neighbours& neighbours,
                const UnitMemory& memory, Index width);

  /// The rows of the block are those at the given positions of their batch, sorted by best cluster. Rows with
  /// one best cluster share their candidates: its neighbours, what is in the support of any of them, and the
  /// newborn.
  void responsibilities(const FeatureBlock& block, const Index* position, Responsibilities& r,
                        double& entropy);

 private:
  void choose(const Index* position, Index n);

  const Weights& weights_;
  const Vec& log_pi_;
  const Neighbours& neighbours_;
  const SupportTable& support_;
  Index width_;
  std::vector<int> born_, chosen_;
  std::vector<bool> is_chosen_;
  Vec score_, by_row_;
};

}  // namespace bnpvi::mixtures
