// Selection of groups of clusters that are worth joining and dividing anew.
#pragma once
#include "inference/moves/move.h"
#include "inference/moves/neighbour_groups.h"

namespace bnpvi {

/// Groups that are worth trying, nearest first, given by the identities of their clusters (since numbers
/// change when a move is accepted): pairs, or triples if there are no such pairs. least: the least size of a
/// cluster to be considered. gains: evidence_of_merging() of the clusters, which may be slightly out of date.
std::vector<std::vector<std::uint64_t>> groups_to_divide(const MoveContext& context, const State& state,
                                                         double least, const Vec& gains);

}  // namespace bnpvi
