// The contract of a sampler: Markov chains over partitions of the observations.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"

namespace bnpvi {

/// Where a chain is: all that its next sweep depends on, beside its seed and its number. A plain value.
struct ChainState {
  std::vector<int> label;  // of each observation, 0 .. K − 1, all in use unless they have places
  Vec weight;         // β_1, ..., β_K and what is left for all others, of models whose groups share weights
                      // that are not integrated out; empty: there are none, or none have been drawn yet
  Vec concentration;  // values of the concentrations, in the order of Target::concentrations()
  Index sweeps = 0;   // made so far
};

/// What moves chains; one for each thread that does.
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// Draws all of the state anew, so that its law, the posterior, stays what it is. Random numbers depend on
  /// (seed, chain, number of the sweep) alone, results on these and the state: a chain goes on to the same
  /// bits with a new sampler. Returns what is recorded of the draw, in the order of Target::recorded().
  /// Throws Interrupted.
  Vec sweep(ChainState& z, std::uint64_t seed, std::uint64_t chain);

  /// A first state at z.concentration: each observation drawn given those before it. Returns the logarithm of
  /// a number that is p(x), base measure left out, on average, whatever the concentrations [Liu 1996]; NaN
  /// where that is not known.
  virtual double draw_in_sequence(ChainState& z, Stream& stream) = 0;

 protected:
  /// Draws labels, weights and concentrations anew. Returns the draw's log_joint.
  virtual double draw(ChainState& z, Stream& stream) = 0;
  /// Observations of each cluster at the end of draw().
  virtual std::vector<Index> sizes() const = 0;
};

/// The posterior that chains draw from: a model on data, which must outlive it. Samplers in several threads
/// share it.
class Target {
 public:
  virtual ~Target() = default;

  virtual Index n_observations() const = 0;  // that have labels
  virtual Index most_clusters() const { return n_observations(); }
  virtual std::vector<std::string> concentrations() const = 0;
  /// Names of what is recorded: n_clusters, the concentrations, log_joint (of data, partition, weights and
  /// learned concentrations, base measure left out), largest (observations of the largest cluster), entropy
  /// (of the clusters' shares).
  std::vector<std::string> recorded() const;
  virtual std::unique_ptr<Sampler> sampler(Pool& pool) const = 0;
};

}  // namespace bnpvi
