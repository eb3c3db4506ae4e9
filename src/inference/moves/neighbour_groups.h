// Groups of clusters that are near each other, for moves that change several at once.
#pragma once
#include <functional>

#include "inference/data/summary.h"

namespace bnpvi {

/// Numbers of some clusters, ascending.
using ClusterGroup = std::vector<Index>;

/// The (at most m) clusters b nearest to a: those with the largest loss[a K + b], nearest first; pairs with
/// −∞ are left out. loss: evidence_of_merging(), K × K; the larger, the less is lost by joining.
std::vector<Index> nearest(Index a, Index k, const Vec& loss, Index m);

/// Groups of m clusters: each cluster with the m − 1 nearest others, and for pairs also with the second
/// nearest. No group occurs twice; members are ascending, and groups that lose least by joining come first.
/// loss: evidence_of_merging().
std::vector<ClusterGroup> neighbour_groups(Index k, const Vec& loss, Index m);

/// Selects, in their order, the groups for which worth_trying(group, sizes of its clusters) is true: at most
/// `most` groups, whose total mass is at most twice that of the data (a guess), but at least one if there is
/// any. sizes: the sizes of all clusters.
std::vector<ClusterGroup> affordable(
    const std::vector<ClusterGroup>& groups, const Vec& sizes, Index most,
    const std::function<bool(const ClusterGroup&, const Vec&)>& worth_trying);

/// The sizes of some clusters.
Vec sizes_of(const ClusterGroup& group, const Vec& sizes);

}  // namespace bnpvi
