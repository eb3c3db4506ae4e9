// Clusters of single rows, drawn given those of all other rows.
#pragma once
#include <functional>
#include <limits>

#include "foundation/pool.h"
#include "foundation/random.h"
#include "mixtures/partition_prior.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi::mixtures {

/// A row x is in cluster j with probability proportional to the prior's odds of it, at its size T_0, times
/// p(x | urn j); weights and parameters of clusters are integrated out [Neal 2000, Algorithm 3].
class RowDraws {
 public:
  /// Refers to all of these; `most` clusters at most, if there is no row for which there is no cluster yet.
  RowDraws(const RowFeatures& rows, const PartitionPrior& prior, Urns& urns, Pool& pool,
           Index most = std::numeric_limits<Index>::max());

  /// Labels all rows, none of which is in the urns yet, in random order, each given those before it. Returns
  /// Σ log p(x_i | rows before it), base measure left out, at the prior of `before` = 0 rows or more.
  double place_all(std::vector<int>& label, double before, Stream& stream);

  /// Takes each row out of its urn, in random order, and draws its cluster anew.
  void draw_all(std::vector<int>& label, Stream& stream);

  /// True once a new cluster would have been possible but for `most`.
  bool capped() const { return capped_; }

 private:
  // A cluster for a row with these features, K for a new one; weights of all are left in weight_.
  Index draw_cluster(const double* phi, Stream& stream);

  const RowFeatures& rows_;
  const PartitionPrior& prior_;
  Urns& urns_;
  Pool& pool_;
  Index most_;
  bool capped_ = false;
  Vec phi_, predictive_, weight_;
  double top_ = 0;  // weights are odds times exp(log predictive − top)
};

/// Calls each(i, log Σ_j of these weights over all clusters and a new one, their K + 1 shares) for every row
/// i, on all threads.
void share_out(const PartitionPrior& prior, const Urns& urns, const RowFeatures& rows, Pool& pool,
               const std::function<void(Index i, double log_sum, const double* share)>& each);

}  // namespace bnpvi::mixtures
