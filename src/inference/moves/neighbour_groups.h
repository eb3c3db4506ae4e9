// Groups of clusters that are near each other, for moves that change several at once.
#pragma once
#include <functional>

#include "inference/data/summary.h"

namespace bnpvi {

/// Numbers of some clusters, ascending.
using ClusterGroup = std::vector<Index>;

/// The m clusters b (fewer, if there are not so many) that are nearest to cluster a: those with the largest
/// loss[a K + b], nearest first. Pairs with loss −∞ are left out. loss: evidence_of_merging(), K × K; the
/// larger an entry, the less is lost by joining the pair.
std::vector<Index> nearest(Index a, Index k, const Vec& loss, Index m);

/// Groups of m clusters: each cluster with its m − 1 nearest others and, for m = 2, also with its second
/// nearest. No group occurs twice; the members of a group are ascending, and groups that lose least by
/// joining come first. loss: evidence_of_merging(), K × K.
std::vector<ClusterGroup> neighbour_groups(Index k, const Vec& loss, Index m);

/// Selects groups of clusters that are worth trying and not too expensive, in the given order: those for
/// which worth_trying(group, sizes of its clusters) is true, at most `most`, and of total mass at most twice
/// that of the data (a guess); but at least one if there is any. sizes: the sizes of all clusters.
std::vector<ClusterGroup> affordable(
    const std::vector<ClusterGroup>& groups, const Vec& sizes, Index most,
    const std::function<bool(const ClusterGroup&, const Vec&)>& worth_trying);

/// The sizes of the clusters of a group, in its order. sizes: those of all clusters.
Vec sizes_of(const ClusterGroup& group, const Vec& sizes);

}  // namespace bnpvi
