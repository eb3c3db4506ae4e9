// The interface of samplers: Markov chains over partitions of the observations.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"

namespace bnpvi {

/// The state of a Markov chain: everything on which its next sweep depends, except the seed and the number of
/// the chain.
struct ChainState {
  /// The cluster of each observation, 0 .. K − 1. Each of the K clusters has an observation, except in hidden
  /// Markov models whose transition pattern distinguishes the states.
  std::vector<int> label;
  /// In models whose groups share weights that are not integrated out: the weights β_1, ..., β_K of the
  /// clusters and, last, the total weight of all other clusters. Empty in other models, or before weights
  /// were drawn.
  Vec weight;
  /// In models whose rows have unobserved scales (hidden_scales.h): the scales of each row, one row after the
  /// other (n × scales of a row). Empty in other models, or before scales were drawn; all are 1 then.
  Vec scale;
  Vec concentration;  // values of the concentrations, in the order of Target::concentrations()
  Index sweeps = 0;   // number of sweeps made so far
};

/// Makes the sweeps of Markov chains: in a sweep every observation is drawn once. Each thread has a sampler
/// of its own.
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// Makes one sweep: draws all parts of the state anew by steps that leave the posterior invariant. Returns
  /// the recorded values of the draw, in the order of Target::recorded(). Throws Interrupted. Random numbers
  /// depend only on (seed, chain, number of the sweep), and results only on these numbers and the state. So a
  /// chain that a new sampler continues has the same bits.
  Vec sweep(ChainState& z, std::uint64_t seed, std::uint64_t chain);

  /// Draws a first state, given z.concentration: the label of each observation is drawn given the
  /// observations before it. Returns the logarithm of an estimate of p(x), without the base measure, that is
  /// unbiased for all concentrations [Liu 1996]; NaN if no such estimate is known.
  virtual double draw_in_sequence(ChainState& z, Stream& stream) = 0;

 protected:
  /// Draws labels, weights and concentrations anew. Returns the log_joint of the draw (see
  /// Target::recorded()).
  virtual double draw(ChainState& z, Stream& stream) = 0;
  /// The number of observations in each cluster after draw().
  virtual std::vector<Index> sizes() const = 0;
};

/// The posterior from which Markov chains draw: a model together with data, which must outlive this object.
/// Samplers in several threads share it.
class Target {
 public:
  virtual ~Target() = default;

  virtual Index n_observations() const = 0;  // observations that have labels
  virtual Index most_clusters() const { return n_observations(); }
  virtual Index n_scales() const { return 0; }  // unobserved scales of a row (ChainState::scale)
  virtual std::vector<std::string> concentrations() const = 0;
  /// Names of the values that are recorded of each draw: n_clusters; the concentrations; log_joint (of data,
  /// partition, weights and learned concentrations, without the base measure); largest (number of
  /// observations of the largest cluster); entropy (of the proportions of observations in the clusters).
  std::vector<std::string> recorded() const;
  virtual std::unique_ptr<Sampler> sampler(Pool& pool) const = 0;
};

}  // namespace bnpvi
