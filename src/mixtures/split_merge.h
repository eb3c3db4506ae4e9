// Proposals that divide a cluster or join two.
#pragma once
#include "foundation/random.h"
#include "mixtures/partition_prior.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi::mixtures {

/// Sequentially allocated splits and merges [Dahl 2005]. Two rows are drawn. Are they in one cluster, each
/// begins a cluster of its own, and the other rows of theirs join either, in random order, with the
/// probability that they have given those before; are they in two, the union is proposed. Accepted by
/// Metropolis and Hastings, with Q the probability of the division, drawn or given: p(new)/p(old)/Q of a
/// split, p(new)/p(old) Q of a merge.
class SplitMerge {
 public:
  /// Changes `urns` and `label`, which must agree; number of rows at least 2.
  SplitMerge(const RowFeatures& rows, const PartitionPrior& prior, Urns& urns, std::vector<int>& label);

  /// Draws two rows and makes one proposal; true when it was accepted.
  bool propose(Stream& stream);

 private:
  bool split(Index first, Index second, Stream& stream);
  bool merge(Index first, Index second, Stream& stream);
  // Divides the rows in their order between urns 0 and 1 of pair_, each of which begins with one of the first
  // two. `side` says where a row goes by the log probability of urn 1; side_ has the result. Returns log Q,
  // or some value below `least` when it falls below that.
  template <class Side>
  double divide(const std::vector<Index>& rows, double least, Side side);
  std::vector<Index> in_random_order(Index first, Index second, std::vector<Index> others,
                                     Stream& stream) const;

  const RowFeatures& rows_;
  const PartitionPrior& prior_;
  Urns& urns_;
  std::vector<int>& label_;
  std::vector<std::vector<Index>> members_;  // of each cluster
  Urns pair_;
  std::vector<char> side_;
  Vec phi_;
};

}  // namespace bnpvi::mixtures
