// Identities of clusters while data keep arriving in a stream.
#pragma once
#include <cstdint>

namespace bnpvi {

struct ClusterIdentity {
  std::uint64_t id = 0;  // identity, a number that is never reused
  /// The number of observations that had been seen when the cluster got its first and its latest observation.
  double born_at = 0, last_seen = 0;
  bool lasting = false;  // the cluster existed when clusters were last split, merged or removed
};

/// True if a cluster of a stream can be removed without loss: if its size is below one observation, or below
/// two and it got none of the last 20,000 observations (a guess). seen: number of observations so far. fades:
/// whether the statistics of earlier observations shrink with time. If so, only the first condition counts,
/// since the sizes of unused clusters fall below one observation anyway.
inline bool is_spent(const ClusterIdentity& cluster, double size, double seen, bool fades) {
  return size < 1 || (!fades && size < 2 && seen - cluster.last_seen >= 2e4);
}

/// The record of a cluster of a stream that was removed.
struct Departure {
  ClusterIdentity cluster;
  double size = 0;         // its statistic T_0, the number of its observations, when it was removed
  std::uint64_t into = 0;  // identity of the cluster to which it was joined; 0: it was removed without a join
};

}  // namespace bnpvi
