// The state of learning a mixture from a stream.
#pragma once
#include "inference/learn/running_state.h"

namespace bnpvi::mixtures {

/// The clusters that a mixture has learned from a stream so far. Learning from the next batch depends on
/// nothing else except models, options and seed.
struct RunningClusters : RunningState {
  double concentration = 1;
  Vec recent;  // φ of the latest rows (m × p), oldest first
};

}  // namespace bnpvi::mixtures
