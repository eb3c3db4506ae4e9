// Stretches of consecutive rows, which are clustered or cut in two to propose new states.
#pragma once
#include <vector>

#include "foundation/pool.h"
#include "foundation/random.h"
#include "observations/obs_model.h"

namespace bnpvi::chains {

/// A stretch: consecutive rows begin .. end − 1 of a sequence.
struct Stretch {
  Index begin, end;
};

struct StretchClusters {
  Index k = 0;
  Vec t;                     // statistics Σ φ(x) of the clusters, k × p
  std::vector<Index> group;  // cluster of each stretch of rows
};

/// Clusters stretches of rows into at most k clusters by Bregman k-means++, each stretch represented by the
/// statistic Σ φ(x) of its rows.
/// The first centre is a stretch drawn with probability proportional to its length; each next one with
/// probability proportional to the evidence lost when the stretch joins the nearest centre so far. Then
/// follows k-means until nothing changes. Up to here every row counts as several equal rows, their number
/// being drawn at random (sharpness, inference/start/seeding.h). Centres come from a random sample of at most
/// 4,096 stretches; all stretches are assigned to them in the end.
///
/// w: weights of the state to which the rows belong (expecting_weights()), from which missing cells get their
/// expected values.
StretchClusters cluster_stretches(const ObsModel& obs, const Dataset& data,
                                  const std::vector<Stretch>& stretches, const Vec& w, Index k,
                                  Stream& stream, Pool& pool);

/// Finds the largest subtree of rows that contains `row`, lies within the stretch `all` and has at most
/// `most` rows. If the subtree below `row` itself has more rows, the result is its first `most` rows. back:
/// for each row the distance to its parent (Dataset::back).
Stretch subtree_around(const int* back, const Stretch& all, Index row, Index most);

/// A block of rows, uncut or cut into two parts.
struct BestCut {
  Index parts = 1;
  Vec t;  // statistics Σ φ(x) of the parts, parts × p
  std::vector<Stretch> stretches;
  std::vector<Index> part;  // part of each stretch, 0 or 1
};

/// Cuts the stretch `block` of rows (in trees a subtree) in two where the sum of the log evidences of the
/// parts exceeds that of the whole by most; leaves it uncut if no cut raises the log evidence. The second
/// part of a sequence is everything from the cut on, that of a tree is a subtree. w: weights from which
/// missing cells get their expected values (expecting_weights()).
BestCut best_cut(const ObsModel& obs, const Dataset& data, const Stretch& block, const Vec& w);

}  // namespace bnpvi::chains
