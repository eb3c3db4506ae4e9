// Stretches of consecutive rows, which are clustered or cut in two to propose new states.
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
  Vec t;                     // statistics of the clusters, k × p
  std::vector<Index> group;  // cluster of every stretch
};

/// Clusters stretches into at most k clusters by Bregman k-means++, each stretch represented by the statistic
/// Σ φ(x) of its rows. The first centre is a stretch drawn with probability proportional to its length; each
/// next one with probability proportional to the evidence lost when the stretch joins the nearest centre so
/// far. Then follows k-means until nothing changes. Up to here every row counts as several equal rows, their
/// number being drawn at random (sharpness, inference/start/seeding.h). Centres come from a random sample of
/// at most 4,096 stretches; all stretches are assigned to them in the end.
///
/// w, here and below, fills in expected values of missing cells: expecting_weights() of the state to which
/// the rows belong.
StretchClusters cluster_stretches(const ObsModel& obs, const Dataset& data,
                                  const std::vector<Stretch>& stretches, const Vec& w, Index k,
                                  Stream& stream, Pool& pool);

/// The largest subtree that contains this row, lies within the stretch `all` and has at most `most` rows. If
/// the subtree of which the row is the root has more rows, its first `most` rows. back: for each row the
/// distance to its parent (Dataset::back).
Stretch subtree_around(const int* back, const Stretch& all, Index row, Index most);

/// A block of rows, uncut or cut into two parts.
struct BestCut {
  Index parts = 1;
  Vec t;  // statistics of the parts, parts × p
  std::vector<Stretch> stretches;
  std::vector<Index> part;  // part of each stretch, 0 or 1
};

/// Cuts the stretch `block` (in trees a subtree) in two where the evidence of both parts together exceeds
/// that of the whole by most; leaves it uncut when no cut raises the evidence. The second part of a sequence
/// is everything from the cut on; that of a tree is a subtree.
BestCut best_cut(const ObsModel& obs, const Dataset& data, const Stretch& block, const Vec& w);

}  // namespace bnpvi::chains
