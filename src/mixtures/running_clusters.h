// What is known of the rows of a stream so far.
#pragma once
#include <cstdint>
#include <vector>

#include "foundation/types.h"

namespace bnpvi::mixtures {

/// A cluster as it is known by.
struct ClusterIdentity {
  std::uint64_t id = 0;               // never reused
  double born_at = 0, last_seen = 0;  // rows seen when it was given its first and its latest row
  bool lasting = false;               // it was there once clusters had been tended
};

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

/// A cluster that is no more.
struct Departure {
  ClusterIdentity cluster;
  double size = 0;         // its T_0 when it went
  std::uint64_t into = 0;  // identity of the cluster that it was joined to; 0: it was removed
};

}  // namespace bnpvi::mixtures
