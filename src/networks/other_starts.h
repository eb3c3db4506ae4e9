// Where a search for communities goes on from when its moves find no more.
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "networks/bisection.h"
#include "networks/overlap.h"

namespace bnpvi::networks {

/// The nodes that have most of their link ends in each community, ascending.
std::vector<std::vector<int>> members_of(const Overlap& state);

/// Two halves of the members of a community: by links within (bisection.h), or where every pair of
/// communities has a block, so that the log joint of hard labels is largest. The nodes of one half; none when
/// there are no two.
std::vector<int> halves(const Overlap& state, const std::vector<std::vector<int>>& members,
                        const Owners& owner, Index k, Stream& stream);

/// Shares of nodes with hard labels: `own` in their community, the rest evenly in all of them.
Shares softened(const OwnedLabels& labels, double own);

/// Divides groups until there are k, and the communities of the state, which began as one, with them; false
/// when fewer groups have halves.
bool grow_groups(Overlap& state, Groups& groups, Index k);

/// Labels of members, some communities joined with a neighbour, some in halves, in a way that depends on
/// `kind` (any number) and chance; no number is empty.
OwnedLabels disturbed(const Overlap& state, Index kind, Stream& stream);

/// Labels at the end of a search for the partition of the largest log joint (partition_search.h), from
/// members on. Only where every pair of communities has a block.
OwnedLabels best_partition(const Overlap& state, std::uint64_t seed, Pool& pool);

}  // namespace bnpvi::networks
