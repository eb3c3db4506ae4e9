// Learns a mixture from one batch of rows after the other, without a limit for the number of clusters.
#pragma once
#include "mixtures/row_draws.h"
#include "mixtures/running_clusters.h"
#include "sampling/row_features.h"
#include "sampling/truncation_free.h"

namespace bnpvi::mixtures {

/// Learns a mixture from a stream of batches, without a limit on the number of clusters. The prior of the
/// labels in a batch is PartitionPrior, given the sizes N of the clusters so far. Priors with a fixed number
/// of clusters can be used, too.
class TruncationFreeRows final : public TruncationFree<RowFeatures> {
 public:
  TruncationFreeRows(const ObsModel& obs, const PartitionPrior& prior, const TruncationFreeOptions& options,
                     std::uint64_t seed, RunningClusters& clusters, Pool& pool);

  /// The sum over the rows of log p(x | clusters), without the base measure (the factor of the likelihood
  /// without parameters). Each row is predicted separately.
  double log_predictive(const RowFeatures& rows) const;

  /// The most probable cluster of each row, from 0; 0 also if there are no clusters.
  std::vector<int> most_probable(const RowFeatures& rows) const;

 protected:
  Vec draw(const RowFeatures& rows, const Faded& earlier, double keep, std::vector<int>& label) override;
  Index units(const RowFeatures& rows) const override { return rows.n(); }
  void remember(const RowFeatures& rows, const std::vector<int>& label, double keep) override;

  /// Removes, splits and merges clusters.
  ///
  /// Joining clusters a and b with statistics T gains
  ///   Λ(T_a + T_b) − Λ(T_a) − Λ(T_b) + log p(partition after) − log p(before)
  ///     − N/|W| Σ_{i∈W} [g(r_ia + r_ib) − g(r_ia) − g(r_ib)],  g(r) = r log r.
  /// Λ: log evidence; N: number of rows so far; W: the latest rows; r: their responsibilities. The last sum
  /// is the entropy that is lost because the clusters overlap. The pair with the largest gain is joined,
  /// again and again until no pair gains.
  ///
  /// A cluster is split if a short Markov chain on its latest rows alone finds a partition with a higher
  /// posterior probability. Its parts may be split again. Statistics of the parts are scaled up to the size
  /// of the cluster.
  void improve() override;
  void learn_prior() override;

 private:
  Vec recent_shares() const;  // responsibilities of the latest rows W, |W| × K
  void split_all();
  // Tries to split cluster j by its rows, rows[j]. If it is split, rows[j] keeps the rows of the largest
  // part, and the rows of the other parts, which are new clusters, are appended to `rows`. Returns false if j
  // is unchanged.
  bool split(Index j, std::vector<std::vector<Index>>& rows, Stream& stream);
  void merge_all();

  // Calls use() with the probabilities of the clusters for each of these rows. None of the rows may be in a
  // cluster yet.
  void share_out(const RowFeatures& rows, const UseShares& use) const;

  PartitionPrior prior_;
  RunningClusters& clusters_;
};

}  // namespace bnpvi::mixtures
