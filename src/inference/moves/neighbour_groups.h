// Groups of clusters near each other, for moves that change several at once.
#pragma once
#include <functional>

#include "inference/data/summary.h"

namespace bnpvi {

/// Numbers of some clusters, ascending.
using ClusterGroup = std::vector<Index>;

/// The (at most m) clusters b whose joining with a loses least; all that loss has a number for.
std::vector<Index> nearest(Index a, Index k, const Vec& loss, Index m);

/// Each cluster with m − 1 others near it: the nearest ones and, for pairs, the second nearest too; without
/// repetition, members ascending, groups that lose least by joining first. loss: evidence_of_merging().
std::vector<ClusterGroup> neighbour_groups(Index k, const Vec& loss, Index m);

/// Those of the groups that are worth_trying (a group, its clusters' sizes), in their order: at most `most`,
/// and of not more than twice the mass of the data together (a guess), but at least one if there is any.
/// sizes: of all clusters.
std::vector<ClusterGroup> affordable(
    const std::vector<ClusterGroup>& groups, const Vec& sizes, Index most,
    const std::function<bool(const ClusterGroup&, const Vec&)>& worth_trying);

/// The sizes of some clusters.
Vec sizes_of(const ClusterGroup& group, const Vec& sizes);

}  // namespace bnpvi
