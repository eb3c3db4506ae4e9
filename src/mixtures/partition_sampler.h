// Collapsed Gibbs sampling of mixtures: weights and parameters of the clusters are integrated out.
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "mixtures/partition_prior.h"
#include "mixtures/row_draws.h"
#include "sampling/row_urns.h"
#include "sampling/sampler.h"

namespace bnpvi::mixtures {

/// Makes the posterior p(partition, γ | x) of a mixture, from which Markov chains draw. The concentration γ
/// is named "concentration". The statistic of a row must not depend on its cluster; this excludes models that
/// replace missing cells by expectations. split_merge: the number of split or merge proposals in each sweep.
/// It must not depend on the present K, or the chain would be invalid.
std::unique_ptr<Target> make_partition_target(const ObsModel& obs, const Dataset& data,
                                              const PartitionPrior& prior, Index split_merge);

class PartitionSampler : public Sampler {
 public:
  PartitionSampler(const ObsModel& obs, const RowFeatures& rows, const PartitionPrior& prior,
                   Index split_merge, Pool& pool);

  /// The log joint density of the data and this state of the chain, which sweep() records as log_joint.
  double log_joint(const ChainState& z);

  /// Draws the initial state of a chain: the labels of the rows one after the other, in random order, each
  /// given the rows before it.
  double draw_in_sequence(ChainState& z, Stream& stream) override;

 protected:
  /// Makes one sweep. First come the split and merge proposals. Then each row's cluster is drawn given all
  /// other rows, in random order [Neal 2000, Algorithm 3]. Last comes the concentration γ.
  double draw(ChainState& z, Stream& stream) override;
  std::vector<Index> sizes() const override { return urns_.urns().counts(); }
  /// Fills the urns (the statistics of the clusters) with the rows of this state, and takes its
  /// concentration.
  virtual void rebuild(const ChainState& z);
  /// Draws what the state has of rows beside their labels, which agree with the urns. By default nothing.
  virtual void draw_of_rows(ChainState& /*z*/, Stream& /*stream*/) {}

  const RowFeatures& rows_;
  Pool& pool_;
  RowUrns urns_;

 private:
  void draw_concentration(Stream& stream);
  double log_joint() const;

  PartitionPrior prior_;
  Index split_merge_;
  RowDraws row_draws_;
};

}  // namespace bnpvi::mixtures
