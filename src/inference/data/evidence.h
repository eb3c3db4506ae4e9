// The evidence of the clusters of a summary, each under the prior of its name.
#pragma once
#include "inference/data/summary.h"
#include "observations/named_clusters.h"

namespace bnpvi {

/// Log evidence used_evidence() of cluster j of the summary.
inline double used_evidence(const ObsModel& obs, const Summary& s, Index j) {
  return used_evidence(under_name(obs, s.names.of_cluster(j)), s.t(j));
}

/// The same for clusters a and b when joined.
inline double evidence_of_pair(const ObsModel& obs, const Summary& s, Index a, Index b) {
  Vec both(s.t(a), s.t(a) + s.shape.p);
  for (Index i = 0; i < s.shape.p; ++i) both[i] += s.t(b)[i];
  return used_evidence(under_name(obs, s.names.of_pair(a, b)), both.data());
}

}  // namespace bnpvi
