// Stretches of consecutive rows: clustered as units, or cut in two, for births of states.
#pragma once
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
  std::vector<Index> group;  // cluster of every stretch
};

/// Clusters stretches into at most k clusters by Bregman k-means++, each stretch represented by the statistic
/// Σ φ(x) of its rows: the first centre is drawn with probability proportional to length, each next one to
/// the evidence lost when a stretch joins the nearest centre so far; then k-means until nothing changes, each
/// row counted as often as a sharpness that is drawn (inference/start/seeding.h).
/// w: expecting_weights() of the state that the rows come from, under which cells that they lack are
/// expected, here and below. Centres come from a random sample of at most 4,096 stretches; then all stretches
/// are assigned to them.
StretchClusters cluster_stretches(const ObsModel& obs, const Dataset& data,
                                  const std::vector<Stretch>& stretches, const Vec& w, Index k,
                                  Stream& stream, Pool& pool);

/// The largest subtree with a given row that lies in `all` and has at most so many rows; where that of the
/// row itself has more, its first rows. back: Dataset::back.
Stretch subtree_around(const int* back, const Stretch& all, Index row, Index most);

/// A block of rows in one part or in two.
struct BestCut {
  Index parts = 1;
  Vec t;  // parts × p statistics
  std::vector<Stretch> stretches;
  std::vector<Index> part;  // of each stretch
};

/// The stretch `block`, in trees a subtree, cut in two where the evidence of the two parts exceeds that of
/// the whole by most, or uncut when no cut raises it. The second part of a sequence is all behind the cut,
/// that of a tree a subtree.
BestCut best_cut(const ObsModel& obs, const Dataset& data, const Stretch& block, const Vec& w);

}  // namespace bnpvi::chains
