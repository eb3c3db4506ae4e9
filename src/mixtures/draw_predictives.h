// Predictions for new rows, averaged over draws of partitions from the posterior.
#pragma once
#include "foundation/pool.h"
#include "mixtures/partition_prior.h"
#include "sampling/row_features.h"

namespace bnpvi::mixtures {

/// Averages the predictions for m new rows over draws of partitions, which are added one by one.
class DrawPredictives {
 public:
  /// rows: the sampled rows. point: a reference partition of them, with the cluster 0 .. K − 1 of each row.
  /// The average is given for its clusters.
  DrawPredictives(const ObsModel& obs, const RowFeatures& rows, const std::vector<int>& point,
                  const RowFeatures& new_rows);

  /// Adds one draw of a partition. label: the cluster of every sampled row, from 0. prior: the prior of
  /// partitions, with the concentration of this draw.
  void add(const std::vector<int>& label, const PartitionPrior& prior, Pool& pool);

  /// Logarithm of the predictive density of each of the m new rows, averaged over the draws, without the base
  /// measure (the factor of the likelihood without parameters).
  Vec log_density() const;

  /// The probabilities of the clusters of the reference partition `point` for each new row, summed over
  /// draws: m × K. A draw adds Σ_b p_b N_ab / N_b for cluster a of `point`. p_b: probability that the new row
  /// is in cluster b of the draw. N_ab / N_b: fraction of the rows of b that are in a. A row of the result
  /// sums to the number of draws minus the summed probabilities of a new cluster.
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
