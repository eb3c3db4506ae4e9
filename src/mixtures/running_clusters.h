// What is known of the rows of a stream so far.
#pragma once
#include "inference/learn/running_state.h"

namespace bnpvi::mixtures {

/// Clusters of a stream, a plain value: all that learning from its next batch depends on, beside models,
/// options and seed.
struct RunningClusters : RunningState {
  double concentration = 1;
  Vec recent;  // φ of the latest rows (m × p), oldest first
};

}  // namespace bnpvi::mixtures
