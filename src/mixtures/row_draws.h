// Draws of the clusters of single rows given the clusters of all other rows.
#pragma once
#include <functional>

#include "mixtures/partition_prior.h"
#include "sampling/cluster_draws.h"
#include "sampling/row_urns.h"

namespace bnpvi::mixtures {

/// Draws clusters of rows. The weights of the clusters are integrated out, so the prior odds of a cluster
/// depend on its size T_0 (PartitionPrior).
class RowDraws final : public ClusterDraws {
 public:
  /// Keeps references to prior, pool and urns. An urn has the statistics of one cluster; rows leave and join
  /// it one at a time. most: see ClusterDraws.
  RowDraws(const PartitionPrior& prior, RowUrns& urns, Pool& pool,
           Index most = std::numeric_limits<Index>::max());

  /// Draws labels of all rows in random order, each given the rows before it. None of the rows may be in the
  /// urns (the clusters' statistics) yet. Returns Σ log p(x_i | rows before it), without the base measure, if
  /// the urns were empty at first.
  double place_all(std::vector<int>& label, Stream& stream);

  /// Makes one Gibbs sweep: takes each row, in random order, out of the urn (the statistic) of its cluster,
  /// and draws its cluster anew.
  void draw_all(std::vector<int>& label, Stream& stream);

 private:
  void find_odds(Index i, Vec& odds) const override;

  const PartitionPrior& prior_;
  const RowUrns& urns_;
};

/// Receives, for a row, the probabilities with which RowDraws would draw its cluster: K + 1 numbers that sum
/// to 1, the last for a new cluster. log_sum: the logarithm of their sum before they were normalised.
using UseShares = std::function<void(Index row, double log_sum, const double* share)>;

/// Calls use() with the probabilities of each row's clusters, for every row, on all threads. No row may be in
/// the urns (the statistics of the clusters).
void share_out(const PartitionPrior& prior, const RowUrns& urns, Pool& pool, const UseShares& use);

}  // namespace bnpvi::mixtures
