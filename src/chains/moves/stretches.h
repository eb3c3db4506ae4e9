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

/// Clusters stretches of rows into at most k clusters by k-means++ with the Bregman divergence of the model.
/// Each stretch is represented by the statistic Σ φ(x) of its rows.
///
/// The first centre is a stretch drawn with probability proportional to its length. Each next centre is drawn
/// with probability proportional to the log evidence lost when the stretch joins the nearest centre so far.
/// Then k-means runs until nothing changes. Centres come from a random sample of at most 4,096 stretches. In
/// this search every row counts as several equal rows; how many is drawn at random (sharpness,
/// inference/start/seeding.h). At the end each of the `parts` is assigned to a centre. Parts are stretches of
/// the same rows that are as long or shorter, since a long stretch may have rows of several clusters.
///
/// w: weights of the state to which the rows belong; missing cells get their expected values under these
/// weights (expecting_weights()).
StretchClusters cluster_stretches(const ObsModel& obs, const Dataset& data,
                                  const std::vector<Stretch>& stretches, const std::vector<Stretch>& parts,
                                  const Vec& w, Index k, Stream& stream, Pool& pool);

/// Joins pairs of clusters whose union has a higher log evidence than the two clusters apart. The pair with
/// the largest gain is joined first. Stops when no such pair is left, or when only `least` clusters are left.
/// The reason: a birth of two similar states has a lower ELBO than a birth of one state, and would be
/// refused.
void join_alike(const ObsModel& obs, StretchClusters& clusters, Index least);

/// Sums the features φ(x) of the rows of a stretch by their label, and adds the sums to by_label: p numbers
/// for each of K labels, empty for a label that no row has had so far. label: labels of the rows of the
/// stretch in their order; rows with a negative label are left out. w: as for cluster_stretches().
void add_by_label(const ObsModel& obs, const Dataset& data, const Stretch& stretch, const int* label,
                  const Vec& w, std::vector<Vec>& by_label);

/// Finds the largest subtree of rows that contains `row`, lies within the stretch `all` and has at most
/// `most` rows. If the subtree below `row` itself has more rows, returns the first `most` rows of that
/// subtree. back: for each row its distance to its parent (Dataset::back).
Stretch subtree_around(const int* back, const Stretch& all, Index row, Index most);

/// A block of rows, uncut or cut into two parts.
struct BestCut {
  Index parts = 1;
  Vec t;  // statistics Σ φ(x) of the parts, parts × p
  std::vector<Stretch> stretches;
  std::vector<Index> part;  // part of each stretch, 0 or 1
};

/// Cuts the stretch `block` of rows in two if this raises the log evidence: log evidence of part 1 + log
/// evidence of part 2 − log evidence of the whole block. Chooses the cut with the largest gain; if no cut has
/// a gain, the block stays whole. In a sequence the second part is all rows from the cut on; in a tree (where
/// the block is a subtree) it is a smaller subtree. w: weights under which missing cells get their expected
/// values (expecting_weights()).
BestCut best_cut(const ObsModel& obs, const Dataset& data, const Stretch& block, const Vec& w);

}  // namespace bnpvi::chains
