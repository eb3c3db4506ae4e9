// Stochastic learning of networks: steps of q(φ) by some nodes at a time.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "foundation/monitor.h"
#include "foundation/pool.h"

namespace bnpvi::networks {

struct SampledOptions {
  Index batches = 10;
  Index max_laps = 100;
  double delay = 1, power = 0.6;  // step t has the rate (delay + t)^−power
  std::uint64_t seed = 0;
};

/// What is learned (overlap.h, soft_blocks.h): step(nodes, rate), what follows when all nodes had their step,
/// a lap that makes the bound right, and the bound.
struct SampledState {
  std::function<void(const std::vector<int>&, double)> step;
  std::function<void()> end_steps, lap;
  std::function<double()> bound;
  Index k;
};

/// Laps in each of which every node is in one of `batches` sets, drawn anew, of as many nodes as can be; the
/// last lap is one of all nodes, after which the bound is told; before it is not known. Returns the number of
/// laps.
Index learn_sampled(const SampledState& state, Index n, const SampledOptions& options, Pool& pool,
                    const std::function<void(LapRecord)>& told);

}  // namespace bnpvi::networks
