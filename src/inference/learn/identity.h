// Identities of clusters while data keep arriving.
#pragma once
#include <cstdint>

namespace bnpvi {

struct ClusterIdentity {
  std::uint64_t id = 0;               // never reused
  double born_at = 0, last_seen = 0;  // observations seen when it was given its first and its latest one
  bool lasting = false;               // it was there after clusters were maintained
};

/// Whether nothing is lost by removing a running cluster: less than one observation is left of it, or less
/// than two, and it got none of the last 20,000 observations (a guess). If statistics fade, the second case
/// turns into the first.
inline bool is_spent(const ClusterIdentity& cluster, double size, double seen, bool fades) {
  return size < 1 || (!fades && size < 2 && seen - cluster.last_seen >= 2e4);
}

/// A cluster that was removed.
struct Departure {
  ClusterIdentity cluster;
  double size = 0;         // its T_0 when it was removed
  std::uint64_t into = 0;  // identity of the cluster that it was joined to; 0: it was removed
};

}  // namespace bnpvi
