// Truncation-free learning of a mixture, one batch of rows after the other [Wang & Blei 2012].
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "mixtures/partition_prior.h"
#include "mixtures/running_clusters.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi::mixtures {

struct TruncationFreeOptions {
  Index sweeps = 5;           // Gibbs sweeps of a batch, the one that places its rows included
  Index most_clusters = 500;  // at the cap no row begins a cluster
  bool merge = true, split = true;
  bool fades = false;  // whether rows weigh less as others come: clusters shrink by themselves then
};

/// The rows of a batch are labelled by a collapsed Gibbs sampler whose prior is the running posterior: with
/// statistics T_k of earlier rows and B_k of the batch,
///   p(z_B | x) ∝ p(z_B | N) Π_k exp[Λ(T_k + B_k) − Λ(T_k)],
/// p(z_B | N) being the prior's partition of all rows given the sizes N of the clusters so far. A row that
/// fits none begins one. A single batch of all rows, with no clusters before, is a chain of the exact
/// posterior.
///
/// (Wang and Blei order the clusters and keep q of their sticks; here the weights are integrated out, which
/// has no order, is the same for finite priors, and predicted as well.)
class TruncationFree {
 public:
  TruncationFree(const ObsModel& obs, const PartitionPrior& prior, const TruncationFreeOptions& options,
                 std::uint64_t seed, RunningClusters& clusters, Pool& pool);

  /// Σ log p(x | clusters) over rows, base measure left out; each row for itself.
  double log_predictive(const RowFeatures& rows);

  /// The most probable cluster of each row; of no clusters 0.
  std::vector<int> most_probable(const RowFeatures& rows);

  /// T ← keep T + B. fresh: rows that were not seen before. Clusters are ordered by size.
  void learn(const RowFeatures& rows, double keep, bool fresh);

  /// Removes, splits and merges clusters; those that there are then are ordered by size, and lasting. Joining
  /// a and b gains
  ///   Λ(T_a + T_b) − Λ(T_a) − Λ(T_b) + log p(partition after) − log p(before)
  ///     − N/|W| Σ_{i∈W} [g(r_ia + r_ib) − g(r_ia) − g(r_ib)],  g(r) = r log r,
  /// W being the latest rows and r their responsibilities: the entropy that is lost where clusters overlap.
  /// The best pair is joined until none gains. A cluster is split when a short chain on its latest rows alone
  /// finds a partition of higher posterior probability, and so are its parts; their statistics are scaled up
  /// to its size.
  void tend();

  /// Whether clusters are to be tended: a tenth of all rows (1,000 at least, 10,000 at most) came since.
  bool due() const;

  /// True once a row would have begun a cluster but for the cap.
  bool capped() const { return capped_; }
  const std::vector<Departure>& departed() const { return departed_; }

 private:
  double size(Index j) const { return clusters_.t[static_cast<std::size_t>(j * p_)]; }
  double total_size() const;
  void keep_recent(const RowFeatures& rows);
  void remove_small();
  Vec recent_shares();  // responsibilities of the latest rows, |W| × K
  void split_all();
  // Cluster j by the rows that are its own; these become those of its largest part, and the rows of the other
  // parts, new clusters, are appended. False: it stays as it is.
  bool split(Index j, std::vector<std::vector<Index>>& rows, Stream& stream);
  void merge_all();
  void drop(Index j, std::uint64_t into);
  void learn_concentration();

  const ObsModel& obs_;
  PartitionPrior prior_;
  TruncationFreeOptions options_;
  std::uint64_t seed_;
  RunningClusters& clusters_;
  Pool& pool_;
  const Index p_;
  Urns urns_;  // begun with the running clusters, the latest batch added
  bool capped_ = false;
  std::vector<Departure> departed_;
};

}  // namespace bnpvi::mixtures
