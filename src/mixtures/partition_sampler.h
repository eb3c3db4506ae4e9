// Collapsed Gibbs sampling of a mixture: weights and parameters of the clusters are integrated out.
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "mixtures/partition_prior.h"
#include "mixtures/row_draws.h"
#include "sampling/row_urns.h"
#include "sampling/sampler.h"

namespace bnpvi::mixtures {

/// p(partition, γ | x) of a mixture; the one concentration is "concentration", γ. Rows whose statistic must
/// not depend on the cluster: no cells are expected. split_merge: proposals of splits and merges a sweep;
/// a number that depended on the present K would spoil the law of the draws.
std::unique_ptr<Target> make_partition_target(const ObsModel& obs, const Dataset& data,
                                              const PartitionPrior& prior, Index split_merge);

class PartitionSampler final : public Sampler {
 public:
  PartitionSampler(const ObsModel& obs, const RowFeatures& rows, const PartitionPrior& prior,
                   Index split_merge, Pool& pool);

  /// What sweep() records as log_joint, of this state.
  double log_joint(const ChainState& z);

  /// In random order.
  double draw_in_sequence(ChainState& z, Stream& stream) override;

 protected:
  /// Proposes splits and merges, then draws each row's cluster given all others [Neal 2000, Algorithm 3], in
  /// random order, then γ.
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
