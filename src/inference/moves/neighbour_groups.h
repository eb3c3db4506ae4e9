// Groups of clusters that are near each other, for moves that change several at once.
#pragma once
#include <functional>

#include "inference/data/summary.h"

namespace bnpvi {

/// Numbers of some clusters, ascending.
using ClusterGroup = std::vector<Index>;

/// The m clusters that are nearest to cluster a, nearest first; all of them if there are fewer. loss:
/// evidence_of_merging(), K × K, the change of the log evidence if clusters a and b are joined. The nearest b
/// has the largest loss[a K + b]. Pairs with −∞ are left out.
std::vector<Index> nearest(Index a, Index k, const Vec& loss, Index m);

/// Groups of m clusters: each cluster with its m − 1 nearest others and, for m = 2, also with its second
/// nearest. Every group occurs once, with ascending members. First come the groups whose joining lowers the
/// log evidence least. loss: evidence_of_merging(), K × K, the change of the log evidence if two clusters are
/// joined.
std::vector<ClusterGroup> neighbour_groups(Index k, const Vec& loss, Index m);

/// Selects at most `most` of these groups, in the given order, among those for which worth_trying(group,
/// sizes of its clusters) is true. The selected groups together have at most twice the mass of the data (a
/// guess), but at least one group is selected if there is any. sizes: those of all clusters.
std::vector<ClusterGroup> affordable(
    const std::vector<ClusterGroup>& groups, const Vec& sizes, Index most,
    const std::function<bool(const ClusterGroup&, const Vec&)>& worth_trying);

/// The sizes of the clusters of a group, in its order. sizes: those of all clusters.
Vec sizes_of(const ClusterGroup& group, const Vec& sizes);

}  // namespace bnpvi
