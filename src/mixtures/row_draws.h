// Clusters of single rows, drawn given those of all other rows.
#pragma once
#include <functional>

#include "mixtures/partition_prior.h"
#include "sampling/cluster_draws.h"
#include "sampling/row_urns.h"

namespace bnpvi::mixtures {

/// The odds of a cluster are the prior's, at its size T_0: weights of clusters are integrated out.
class RowDraws final : public ClusterDraws {
 public:
  /// Refers to prior, urns and pool; `most` as in ClusterDraws.
  RowDraws(const PartitionPrior& prior, RowUrns& urns, Pool& pool,
           Index most = std::numeric_limits<Index>::max());

  /// Labels all rows, none of which is in the urns yet, in random order, each given those before it. Returns
  /// Σ log p(x_i | rows before it), base measure left out, of urns that have begun with no rows.
  double place_all(std::vector<int>& label, Stream& stream);

  /// Takes each row out of its urn, in random order, and draws its cluster anew.
  void draw_all(std::vector<int>& label, Stream& stream);

 private:
  void find_odds(Index i, Vec& odds) const override;

  const PartitionPrior& prior_;
  const RowUrns& urns_;
};

/// The weights by which RowDraws would draw the cluster of a row: log of their sum, and K + 1 shares in it.
using UseShares = std::function<void(Index row, double log_sum, const double* share)>;

/// Calls use(...) for every row, none of which is in the urns, on all threads.
void share_out(const PartitionPrior& prior, const RowUrns& urns, Pool& pool, const UseShares& use);

}  // namespace bnpvi::mixtures
