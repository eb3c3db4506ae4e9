// Counter-based random streams: the same numbers on every platform and for any number of threads.
#pragma once
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// The purpose of a random stream, part of its key. Missing numbers belonged to purposes of earlier versions.
enum class Purpose : std::uint64_t {
  batches = 1,
  batch_order = 2,
  initial_seeds = 3,
  birth_seeds = 6,
  merge_target = 8,
  test = 12,
  fingerprint = 13,
  restart = 14,
  sampler = 15,
  first_draw = 16,
  point_partition = 17,
  stream = 18,
  held_out = 19,
  filter = 20,
  sweep_order = 40,
  residual_rows = 41
};

/// A stream of random 64-bit numbers for the key (seed, purpose, a, b). Number i is mix(key + i·φ) with φ =
/// 2^64 / golden ratio, as in the SplitMix64 generator of Steele, Lea & Flood (2014).
class Stream {
 public:
  Stream(std::uint64_t seed, Purpose purpose, std::uint64_t a = 0, std::uint64_t b = 0)
      : state_(mix(mix(mix(mix(seed) + static_cast<std::uint64_t>(purpose)) + a) + b)) {}

  std::uint64_t next() { return mix(state_ += golden); }

  /// A number drawn uniformly from [0, 1), with 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// A whole number drawn uniformly from 0 .. n − 1, n > 0.
  Index index(Index n) {
    const Index i = static_cast<Index>(uniform() * static_cast<double>(n));
    return i < n ? i : n - 1;
  }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

/// The seed of restart number r of a fit: `seed` itself for r = 0, otherwise a number below 2^31 that depends
/// on both. A fit with that seed and a single start repeats the restart.
std::uint64_t restart_seed(std::uint64_t seed, std::uint64_t r);

/// The numbers 0 .. n − 1 in random order.
std::vector<Index> shuffled(Index n, Stream& stream);

/// Reorders the items so that the first m of n, m ≤ n, are a random sample without replacement.
template <class Items>
void draw_to_front(Items& items, Index m, Stream& stream) {
  const Index n = static_cast<Index>(items.size());
  for (Index i = 0; i < m; ++i) std::swap(items[i], items[i + stream.index(n - i)]);
}

/// An index drawn with probability proportional to its weight ≥ 0; −1 if all weights are 0.
Index draw(const Vec& weight, Stream& stream);

}  // namespace bnpvi
