// New rows under draws of partitions.
#pragma once
#include "foundation/pool.h"
#include "mixtures/partition_prior.h"
#include "sampling/row_features.h"

namespace bnpvi::mixtures {

/// Predictions for m new rows, averaged over draws that are added one by one.
class DrawPredictives {
 public:
  /// point: a cluster 0 .. K − 1 for each of the rows that were sampled.
  DrawPredictives(const ObsModel& obs, const RowFeatures& rows, const std::vector<int>& point,
                  const RowFeatures& new_rows);

  /// label: 0 .. K − 1, of all rows; prior: with the draw's concentration.
  void add(const std::vector<int>& label, const PartitionPrior& prior, Pool& pool);

  /// log of the mean predictive density, base measure left out; m numbers.
  Vec log_density() const;

  /// Σ_b p_b N_ab / N_b, m × K, a sum over the draws: p_b is the probability that the new row is in cluster b
  /// of a draw, N_ab / N_b the share of that cluster's rows that are in cluster a of `point`. What is left of
  /// the number of draws is the probability of a cluster without any row so far.
  const Vec& together() const { return together_; }
  Index k() const { return k_; }

 private:
  const ObsModel& obs_;
  const RowFeatures& rows_;
  const RowFeatures& new_rows_;
  const std::vector<int>& point_;
  Index k_, n_draws_ = 0;
  Vec log_sum_, together_;
};

}  // namespace bnpvi::mixtures
