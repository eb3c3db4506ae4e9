// The state of learning a mixture from a stream.
#pragma once
#include "inference/learn/running_state.h"

namespace bnpvi::mixtures {

/// The clusters of a stream: all that learning from its next batch depends on, apart from models, options
/// and seed.
struct RunningClusters : RunningState {
  double concentration = 1;
  Vec recent;  // φ of the latest rows (m × p), oldest first
};

}  // namespace bnpvi::mixtures
