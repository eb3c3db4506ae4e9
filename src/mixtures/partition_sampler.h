// Collapsed Gibbs sampling of a mixture: weights and parameters of the clusters are integrated out.
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "mixtures/partition_prior.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi::mixtures {

/// Where a Markov chain of partitions is: all that its next sweep depends on beside its seed.
struct SampledPartition {
  std::vector<int> label;    // of each row, 0 .. K − 1, all in use
  double concentration = 1;  // γ
  Index sweeps = 0;          // made so far
};

/// What is recorded of a draw.
struct DrawRecord {
  Index k = 0;
  double concentration = 0;
  double log_joint =
      0;  // log p(x, partition | γ), base measure left out, and where γ is learned, its log density
  Index largest = 0;   // rows of the largest cluster
  double entropy = 0;  // −Σ_k (N_k/n) log (N_k/n)
};

/// Draws from p(partition, γ | x). Rows whose statistic must not depend on the cluster: no cells are
/// expected.
class PartitionSampler {
 public:
  /// split_merge: proposals of splits and merges a sweep; negative: max(5, K).
  PartitionSampler(const ObsModel& obs, const RowFeatures& rows, const PartitionPrior& prior,
                   Index split_merge, Pool& pool);

  /// Proposes splits and merges, then draws each row's cluster given all others [Neal 2000, Algorithm 3], in
  /// random order, then γ. Random numbers depend on (seed, chain, number of the sweep) alone. Throws
  /// Interrupted.
  DrawRecord sweep(SampledPartition& z, std::uint64_t seed, std::uint64_t chain);

  /// Draws each row's cluster given those before it in random order. Returns log Π_i p(x_i | rows and
  /// clusters before), whose exponential is p(x), base measure left out, on average [Liu 1996].
  double draw_in_sequence(SampledPartition& z, Stream& stream);

 private:
  void rebuild(const SampledPartition& z);
  void draw_rows(std::vector<int>& label, Stream& stream);
  // A cluster for a row with these features, K for a new one; weights of all are left in weight_.
  Index draw_cluster(const double* phi, Stream& stream);
  void draw_concentration(Stream& stream);
  DrawRecord record() const;

  const RowFeatures& rows_;
  PartitionPrior prior_;
  Index split_merge_;
  Pool& pool_;
  Urns urns_;
  Vec phi_, predictive_, weight_;
  double top_ = 0;  // weights are odds times exp(log predictive − top)
};

}  // namespace bnpvi::mixtures
