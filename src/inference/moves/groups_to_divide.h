// Selection of groups of clusters that are worth joining and dividing anew.
#pragma once
#include "inference/moves/move.h"
#include "inference/moves/neighbour_groups.h"

namespace bnpvi {

/// Pairs of clusters that are worth joining and dividing anew, nearest first; triples if there are no such
/// pairs. Clusters are given by identities, since their numbers change when a move is accepted. least: the
/// smallest size of a cluster that is considered. gains: evidence_of_merging() of all pairs, K × K; it may be
/// slightly out of date.
std::vector<std::vector<std::uint64_t>> groups_to_divide(const MoveContext& context, const State& state,
                                                         double least, const Vec& gains);

}  // namespace bnpvi
