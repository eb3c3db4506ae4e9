// Metropolis–Hastings proposals that split a cluster or merge two.
#pragma once
#include "foundation/random.h"
#include "mixtures/partition_prior.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi::mixtures {

/// Makes sequentially allocated splits and merges [Dahl 2005] in a Markov chain over partitions. Two rows are
/// drawn. If they are in one cluster, a split is proposed: each of the two starts a cluster. The other rows
/// of the old cluster join one of these in random order, each with its probability given the rows before. If
/// the two rows are in different clusters, a merge of these clusters is proposed. Let Q be the probability of
/// the division: of the one drawn (split), or of the present one (merge). The Metropolis–Hastings ratio is
///   p(new) / p(old) / Q for a split, Q p(new) / p(old) for a merge.
class SplitMerge {
 public:
  /// Keeps references. Proposals change `urns` (the statistics of the clusters) and `label` (the cluster of
  /// each row). The two must agree with each other. There must be at least two rows.
  SplitMerge(const RowFeatures& rows, const PartitionPrior& prior, Urns& urns, std::vector<int>& label);

  /// Draws two rows and makes one proposal; true when it was accepted.
  bool propose(Stream& stream);

 private:
  bool split(Index first, Index second, Stream& stream);
  bool merge(Index first, Index second, Stream& stream);
  // Divides the rows, in their order, between two clusters: urns 0 and 1 of pair_, each of which starts with
  // one of the two drawn rows. side(row, log probability of urn 1) decides where a row goes; the decisions
  // are stored in side_. Returns log Q, the log probability of the division. If it falls below `least`, any
  // value below `least` may be returned.
  template <class Side>
  double divide(const std::vector<Index>& rows, double least, Side side);
  std::vector<Index> in_random_order(Index first, Index second, std::vector<Index> others,
                                     Stream& stream) const;

  const RowFeatures& rows_;
  const PartitionPrior& prior_;
  Urns& urns_;
  std::vector<int>& label_;
  std::vector<std::vector<Index>> members_;  // rows of each cluster
  Urns pair_;
  std::vector<char> side_;
  Vec phi_;
};

}  // namespace bnpvi::mixtures
