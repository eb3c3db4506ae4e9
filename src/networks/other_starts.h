// New starts of a search for communities, for use when no move gains any more.
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "networks/bisection.h"
#include "networks/overlap.h"

namespace bnpvi::networks {

/// The members of each community, ascending. A node is a member of the community with most of its link ends.
std::vector<std::vector<int>> members_of(const Overlap& state);

/// Divides the members of community k into two halves and returns the nodes of one half. If every pair of
/// communities has a block, the halves are those with the largest log joint density of hard labels. Otherwise
/// they are found by links (bisection.h). The result is empty if there are no two halves.
std::vector<int> halves(const Overlap& state, const std::vector<std::vector<int>>& members,
                        const Owners& owner, Index k, Stream& stream);

/// Turns hard labels into proportions. A node has the proportion `own` in its own community. The rest is
/// divided evenly among all communities.
Shares softened(const OwnedLabels& labels, double own);

/// Divides groups until there are k of them, and splits the communities of `state` in the same way. The state
/// must have started with one community. Returns false if the groups cannot be divided into k.
bool grow_groups(Overlap& state, Groups& groups, Index k);

/// Labels for a new start. They begin as the main communities of the nodes (members_of()). Then some
/// communities are joined with a neighbour, and some are divided into halves. Which ones depends on `kind`
/// (any number) and on random numbers. Every label has a node.
OwnedLabels disturbed(const Overlap& state, Index kind, Stream& stream);

/// Labels found by a search for the partition with the largest log joint density (partition_search.h). The
/// search starts from the main communities of the nodes. Only for models with a block for every pair of
/// communities.
OwnedLabels best_partition(const Overlap& state, std::uint64_t seed, Pool& pool);

}  // namespace bnpvi::networks
