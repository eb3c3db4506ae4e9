// Truncation-free learning of a mixture, from one batch of rows after the other.
#pragma once
#include "mixtures/row_draws.h"
#include "mixtures/running_clusters.h"
#include "sampling/row_features.h"
#include "sampling/truncation_free.h"

namespace bnpvi::mixtures {

/// The prior of a batch's labels is PartitionPrior, given the sizes N of the clusters so far. It has this
/// form also for priors of a fixed number of clusters.
class TruncationFreeRows final : public TruncationFree<RowFeatures> {
 public:
  TruncationFreeRows(const ObsModel& obs, const PartitionPrior& prior, const TruncationFreeOptions& options,
                     std::uint64_t seed, RunningClusters& clusters, Pool& pool);

  /// Σ log p(x | clusters) over the rows, each predicted separately, without the base measure.
  double log_predictive(const RowFeatures& rows) const;

  /// The most probable cluster of each row; 0 if there are no clusters.
  std::vector<int> most_probable(const RowFeatures& rows) const;

 protected:
  Vec draw(const RowFeatures& rows, const Faded& earlier, double keep, std::vector<int>& label) override;
  Index units(const RowFeatures& rows) const override { return rows.n(); }
  void remember(const RowFeatures& rows, const std::vector<int>& label, double keep) override;

  /// Removes, splits and merges clusters. Joining a and b gains
  ///   Λ(T_a + T_b) − Λ(T_a) − Λ(T_b) + log p(partition after) − log p(before)
  ///     − N/|W| Σ_{i∈W} [g(r_ia + r_ib) − g(r_ia) − g(r_ib)],  g(r) = r log r,
  /// with W the latest rows and r their responsibilities; the sum is the entropy that is lost where clusters
  /// overlap. The best pair is joined until no pair gains. A cluster is split when a short chain on its
  /// latest rows alone finds a partition of higher posterior probability, and its parts may be split again;
  /// their statistics are scaled up to the cluster's size.
  void improve() override;
  void learn_prior() override;

 private:
  Vec recent_shares() const;  // responsibilities of the latest rows W, |W| × K
  void split_all();
  // Tries to split cluster j by the rows that belong to it. On success these become the rows of its largest
  // part, and the rows of the other parts, which are new clusters, are appended. False: j is unchanged.
  bool split(Index j, std::vector<std::vector<Index>>& rows, Stream& stream);
  void merge_all();

  // Calls use() (UseShares) for these rows, none of which is in a cluster yet.
  void share_out(const RowFeatures& rows, const UseShares& use) const;

  PartitionPrior prior_;
  RunningClusters& clusters_;
};

}  // namespace bnpvi::mixtures
