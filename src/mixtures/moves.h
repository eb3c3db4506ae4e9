// The moves of mixtures: proposals that change the number of clusters or reassign rows.
#pragma once
#include "inference/moves/move.h"
#include "mixtures/mixture.h"

namespace bnpvi::mixtures {

/// Birth: splits one cluster [Hughes 2016, §4.2], using its rows in all batches.
std::unique_ptr<Move> make_mixture_birth(const MoveContext& context, const MixtureAlloc& alloc);
/// Joins one pair of clusters and splits another cluster in two, which keeps K [Ueda et al. 2000].
std::unique_ptr<Move> make_mixture_exchange(const MoveContext& context, const MixtureAlloc& alloc);
/// Joins two overlapping clusters and splits the result anew. Only in laps in which no other move has a
/// proposal.
std::unique_ptr<Move> make_mixture_resplit(const MoveContext& context, const MixtureAlloc& alloc);
/// Fits a cluster, or up to three neighbouring ones, anew: with one cluster more, then with the same number.
/// The comparison is made after the rows around have been reassigned. In laps in which no other move has a
/// proposal.
std::unique_ptr<Move> make_mixture_refit(const MoveContext& context, const MixtureAlloc& alloc);
/// Merges pairs of clusters [Hughes 2016, §4.1]. If rows hide scales, this is make_refitted_merge().
std::unique_ptr<Move> make_mixture_merge(const MoveContext& context, const MixtureAlloc& alloc);
/// Merges pairs of clusters, each pair after a short fit of the joined cluster.
std::unique_ptr<Move> make_refitted_merge(const MoveContext& context, const MixtureAlloc& alloc);
/// Deletes one cluster, its rows being reassigned by restricted local steps [Hughes 2016, §4.3].
std::unique_ptr<Move> make_mixture_delete(const MoveContext& context, const MixtureAlloc& alloc);

}  // namespace bnpvi::mixtures
