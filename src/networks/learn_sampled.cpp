#include "networks/learn_sampled.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "foundation/random.h"
#include "inference/learn/check_progress.h"

namespace bnpvi::networks {

LapRecord SampledFit::lap(Index n) {
  LapRecord record;
  record.lap = n;
  record.k = k();
  record.elbo = std::numeric_limits<double>::quiet_NaN();
  pool_.poll();
  if (stopped_ || n >= options_.max_laps) {
    visit_all();
    record.elbo = objective();
    whole_ = true;
  } else {
    steps(n);
  }
  return record;
}

bool SampledFit::next_phase(Why why) {
  if (why != Why::stopped || stopped_ || whole_) return false;
  return stopped_ = true;
}

void SampledFit::read(Reader& in) {
  step_ = in.number();
  require_stored(step_ >= 0, "the number of steps");
}

void SampledFit::steps(Index lap) {
  const Index batches = std::clamp<Index>(options_.batches, 1, std::max<Index>(n_, 1));
  Stream stream(options_.seed, Purpose::batch_order, static_cast<std::uint64_t>(lap));
  const std::vector<Index> order = shuffled(n_, stream);
  for (Index b = 0; b < batches; ++b) {
    pool_.poll();
    std::vector<int> nodes(order.begin() + n_ * b / batches, order.begin() + n_ * (b + 1) / batches);
    std::sort(nodes.begin(), nodes.end());
    step(nodes, std::min(1.0, std::pow(options_.delay + ++step_, -options_.power)));
  }
  end_steps();
}

}  // namespace bnpvi::networks
