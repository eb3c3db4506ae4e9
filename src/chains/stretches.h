// Splitting rows of a sequence: stretches of consecutive rows, clustered as wholes.
#pragma once
#include <utility>
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"
#include "observations/obs_model.h"

namespace bnpvi::chains {

/// Consecutive rows begin .. end-1.
struct Stretch {
  Index begin, end;
};

struct StretchClusters {
  Index k = 0;
  Vec t;                     // k × p statistics of the clusters
  std::vector<Index> group;  // of every stretch
};

/// Clusters stretches into at most k groups by Bregman k-means++, each stretch with the statistic Σ φ(x) of
/// its rows: a first centre drawn by length, each next one by the evidence lost when a stretch shares the
/// nearest centre chosen so far; then k-means until nothing changes. Centres are found on a random sample of
/// the stretches when there are many; all are assigned to them.
StretchClusters cluster_stretches(const ObsModel& obs, const Dataset& data,
                                  const std::vector<Stretch>& stretches, Index k, Stream& stream, Pool& pool);

/// The block in one piece, or in the two pieces whose evidence together exceeds that of the whole by most;
/// with the statistic of each piece.
std::vector<std::pair<Stretch, Vec>> best_cut(const ObsModel& obs, const Dataset& data, const Stretch& block);

}  // namespace bnpvi::chains
