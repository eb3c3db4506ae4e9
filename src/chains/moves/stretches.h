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
  std::vector<Index> group;  // cluster of each part
};

/// Clusters stretches of rows into at most k clusters by Bregman k-means++, each stretch represented by the
/// statistic Σ φ(x) of its rows.
/// The first centre is a stretch drawn with probability proportional to its length; each next one with
/// probability proportional to the evidence lost when the stretch joins the nearest centre so far. Then
/// follows k-means until nothing changes. Up to here every row counts as several equal rows, their number
/// being drawn at random (sharpness, inference/start/seeding.h). Centres come from a random sample of at most
/// 4,096 stretches. In the end each of the `parts` is assigned to a centre: these are stretches of the same
/// rows that are as long or shorter, since a long stretch may have rows of several clusters.
///
/// w: weights of the state to which the rows belong (expecting_weights()), from which missing cells get their
/// expected values.
StretchClusters cluster_stretches(const ObsModel& obs, const Dataset& data,
                                  const std::vector<Stretch>& stretches, const std::vector<Stretch>& parts,
                                  const Vec& w, Index k, Stream& stream, Pool& pool);

/// Joins pairs of clusters whose union has a higher log evidence than the two apart, the pair with the
/// largest difference first, until there is none or `least` clusters are left. (A birth of two similar states
/// has a lower ELBO than that of one state, and would be refused.)
void join_alike(const ObsModel& obs, StretchClusters& clusters, Index least);

/// Adds φ(x) of each row of the stretch to the sum of the row's label: by_label has p numbers for each of K
/// labels, none for a label that no row has had so far. label: of the rows of the stretch, in their order;
/// rows whose label is negative are left out. w: as for cluster_stretches().
void add_by_label(const ObsModel& obs, const Dataset& data, const Stretch& stretch, const int* label,
                  const Vec& w, std::vector<Vec>& by_label);

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

/// Cuts the stretch `block` of rows (in trees a subtree) in two where that raises the log evidence most: the
/// sum over the parts compared with the whole. Leaves it uncut if no cut raises it. The second part is
/// everything from the cut on or, in a tree, a subtree. w: weights under which missing cells get their
/// expected values (expecting_weights()).
BestCut best_cut(const ObsModel& obs, const Dataset& data, const Stretch& block, const Vec& w);

}  // namespace bnpvi::chains
