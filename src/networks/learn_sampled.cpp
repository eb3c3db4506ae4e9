#include "networks/learn_sampled.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "foundation/random.h"

namespace bnpvi::networks {

Index learn_sampled(const SampledState& state, Index n, const SampledOptions& options, Pool& pool,
                    const std::function<void(LapRecord)>& told) {
  const Index batches = std::clamp<Index>(options.batches, 1, std::max<Index>(n, 1));
  double step = 0;
  for (Index lap = 1; lap <= options.max_laps; ++lap) {
    LapRecord record;
    record.lap = lap;
    record.k = state.k;
    record.elbo = std::numeric_limits<double>::quiet_NaN();
    if (lap == options.max_laps) {
      pool.poll();
      state.lap();
      record.elbo = state.bound();
    } else {
      Stream stream(options.seed, Purpose::batch_order, static_cast<std::uint64_t>(lap));
      const std::vector<Index> order = shuffled(n, stream);
      for (Index b = 0; b < batches; ++b) {
        pool.poll();
        std::vector<int> nodes(order.begin() + n * b / batches, order.begin() + n * (b + 1) / batches);
        std::sort(nodes.begin(), nodes.end());
        state.step(nodes, std::min(1.0, std::pow(options.delay + ++step, -options.power)));
      }
      state.end_steps();
    }
    told(record);
  }
  return options.max_laps;
}

}  // namespace bnpvi::networks
