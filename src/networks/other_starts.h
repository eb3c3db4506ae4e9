// New starts for a search for communities whose moves gain nothing more.
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "networks/bisection.h"
#include "networks/overlap.h"

namespace bnpvi::networks {

/// For each community, the nodes that have most of their link ends there, ascending.
std::vector<std::vector<int>> members_of(const Overlap& state);

/// Divides the members of a community in two halves: by links within (bisection.h), or, where every pair of
/// communities has a block, so that the log joint of hard labels is largest. Returns the nodes of one half;
/// none if there are no two halves.
std::vector<int> halves(const Overlap& state, const std::vector<std::vector<int>>& members,
                        const Owners& owner, Index k, Stream& stream);

/// Proportions of nodes in communities that follow from hard labels: `own` in the node's community, the rest
/// divided evenly among all communities.
Shares softened(const OwnedLabels& labels, double own);

/// Divides groups until there are k, and splits the communities of the state, which must have begun as one,
/// in the same way. False if the groups cannot be divided into so many.
bool grow_groups(Overlap& state, Groups& groups, Index k);

/// Labels for a new start: each node has its main community (members_of()), then some communities are joined
/// with a neighbour and some divided in halves, depending on `kind` (any number) and on random numbers. No
/// label is unused.
OwnedLabels disturbed(const Overlap& state, Index kind, Stream& stream);

/// Labels found by a search for the partition with the largest log joint (partition_search.h), which starts
/// from the main communities of the nodes. Only for models where every pair of communities has a block.
OwnedLabels best_partition(const Overlap& state, std::uint64_t seed, Pool& pool);

}  // namespace bnpvi::networks
