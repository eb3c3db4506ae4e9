// What is known of the rows of a stream so far.
#pragma once
#include <vector>

#include "foundation/types.h"
#include "inference/identity.h"

namespace bnpvi::mixtures {

/// Clusters of a stream, a plain value: all that learning from its next batch depends on, beside models,
/// options and seed.
struct RunningClusters {
  Vec t;  // K × p: statistics of the rows so far; N_k = T_k0 is whole unless rows fade
  std::vector<ClusterIdentity> identity;
  std::uint64_t next_id = 1;
  std::uint64_t batches = 0;  // learned from
  double seen = 0;            // rows, each counted once
  double untended = 0;        // rows learned from since clusters were last merged, split and removed
  double concentration = 1;
  Vec recent;  // φ of the latest rows (m × p), oldest first

  Index k() const { return static_cast<Index>(identity.size()); }
};

}  // namespace bnpvi::mixtures
