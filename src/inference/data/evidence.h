// The log evidence of clusters. A cluster with a name has a separate prior (ClusterNames).
#pragma once
#include "inference/data/summary.h"
#include "observations/named_clusters.h"

namespace bnpvi {

/// The log evidence of cluster j of the summary (used_evidence()), under its separate prior if it has one.
inline double used_evidence(const ObsModel& obs, const Summary& s, Index j) {
  return used_evidence(under_name(obs, s.names.of_cluster(j)), s.t(j));
}

/// The log evidence of the cluster that would result from joining clusters a and b.
inline double evidence_of_pair(const ObsModel& obs, const Summary& s, Index a, Index b) {
  Vec both(s.t(a), s.t(a) + s.shape.p);
  for (Index i = 0; i < s.shape.p; ++i) both[i] += s.t(b)[i];
  return used_evidence(under_name(obs, s.names.of_pair(a, b)), both.data());
}

}  // namespace bnpvi
