// Collapsed Gibbs sampling of a mixture: weights and parameters of the clusters are integrated out.
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "mixtures/partition_prior.h"
#include "mixtures/row_draws.h"
#include "sampling/row_urns.h"
#include "sampling/sampler.h"

namespace bnpvi::mixtures {

/// The posterior p(partition, γ | x) of a mixture. Its only concentration is "concentration", γ. The
/// statistic of a row must not depend on its cluster, so models with expected cells are excluded.
/// split_merge: number of split or merge proposals in each sweep; a number that depended on the present K
/// would invalidate the chain.
std::unique_ptr<Target> make_partition_target(const ObsModel& obs, const Dataset& data,
                                              const PartitionPrior& prior, Index split_merge);

class PartitionSampler final : public Sampler {
 public:
  PartitionSampler(const ObsModel& obs, const RowFeatures& rows, const PartitionPrior& prior,
                   Index split_merge, Pool& pool);

  /// The log joint density of the data and this state, which sweep() records as log_joint.
  double log_joint(const ChainState& z);

  /// Draws a first state: the labels of the rows one after the other, in random order.
  double draw_in_sequence(ChainState& z, Stream& stream) override;

 protected:
  /// Makes the split and merge proposals; then draws each row's cluster given all others [Neal 2000,
  /// Algorithm 3], in random order; then γ.
  double draw(ChainState& z, Stream& stream) override;
  std::vector<Index> sizes() const override { return urns_.urns().counts(); }

 private:
  void rebuild(const ChainState& z);
  void draw_concentration(Stream& stream);
  double log_joint() const;

  const RowFeatures& rows_;
  PartitionPrior prior_;
  Index split_merge_;
  Pool& pool_;
  RowUrns urns_;
  RowDraws row_draws_;
};

}  // namespace bnpvi::mixtures
