// Which groups of clusters are worth joining and dividing anew.
#pragma once
#include "inference/moves/move.h"
#include "inference/moves/neighbour_groups.h"

namespace bnpvi {

/// Identities (numbers change when a move is accepted) of pairs that are worth trying, nearest first; of
/// triples when there are no pairs. least: sizes of clusters that count. gains: evidence_of_merging() of the
/// clusters, as they are or as they were a little before.
std::vector<std::vector<std::uint64_t>> groups_to_divide(const MoveContext& context, const State& state,
                                                         double least, const Vec& gains);

}  // namespace bnpvi
