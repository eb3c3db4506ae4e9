// Splitting the rows of one state: stretches of consecutive rows, clustered by their statistics.
#pragma once
#include "obs_model.h"
#include "pool.h"
#include "random.h"

namespace bnpvi {

/// Consecutive rows begin .. end-1 with their statistic Σ φ(x).
struct Stretch {
  Index begin, end;
  Vec t;
};

/// Statistics of the rows begin .. end-1 of every stretch.
void fill_statistics(const ObsModel& obs, const Dataset& data, std::vector<Stretch>& stretches, Pool& pool);

/// Clusters stretches into at most k groups by Bregman k-means++ on whole stretches: a first centre drawn by
/// length, each next one by how much evidence is lost when the stretch shares the nearest centre chosen so
/// far; then k-means until nothing changes. Returns the group of every stretch, groups numbered 0, 1, ...
std::vector<Index> cluster_stretches(const ObsModel& obs, const std::vector<Stretch>& stretches, Index k,
                                     Stream& stream, Pool& pool);

}  // namespace bnpvi
