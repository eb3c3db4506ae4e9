// New starts for a search for communities, when moves from the present state gain nothing more.
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "networks/bisection.h"
#include "networks/overlap.h"

namespace bnpvi::networks {

/// The members of each community, ascending: the nodes that have most of their expected link ends there.
std::vector<std::vector<int>> members_of(const Overlap& state);

/// Divides the members of a community into two halves. Where every pair of communities has a block, the
/// halves are chosen so that the log joint density of hard labels is largest; otherwise by their links
/// (bisection.h). Returns the nodes of one half; none if there are no two halves.
std::vector<int> halves(const Overlap& state, const std::vector<std::vector<int>>& members,
                        const Owners& owner, Index k, Stream& stream);

/// Proportions of nodes in communities that follow from hard labels: `own` in the node's own community; the
/// rest is divided evenly among all communities.
Shares softened(const OwnedLabels& labels, double own);

/// Divides groups until there are k, and splits the communities of `state` in the same way; the state must
/// have started with one community. Returns false if the groups cannot be divided into k.
bool grow_groups(Overlap& state, Groups& groups, Index k);

/// Labels for a new start: each node has its main community (members_of()), then some communities are joined
/// with a neighbour and some divided into halves, depending on `kind` (any number) and on random numbers.
/// Every label has a node.
OwnedLabels disturbed(const Overlap& state, Index kind, Stream& stream);

/// The labels found by a search for the partition of the nodes with the largest log joint density
/// (partition_search.h), which starts from the main communities of the nodes. Only for models where every
/// pair of communities has a block.
OwnedLabels best_partition(const Overlap& state, std::uint64_t seed, Pool& pool);

}  // namespace bnpvi::networks
