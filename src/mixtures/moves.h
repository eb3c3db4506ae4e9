// The moves of mixtures: proposals that change the number of clusters or reassign rows.
#pragma once
#include "inference/moves/move.h"
#include "mixtures/mixture.h"

namespace bnpvi::mixtures {

/// Makes births: splits of one cluster [Hughes 2016, §4.2], using its rows in all batches.
std::unique_ptr<Move> make_mixture_birth(const MoveContext& context, const MixtureAlloc& alloc);
/// Makes exchanges: one pair of clusters is joined and another cluster split in two, so that the number of
/// clusters stays the same [Ueda et al. 2000].
std::unique_ptr<Move> make_mixture_exchange(const MoveContext& context, const MixtureAlloc& alloc);
/// Makes proposals that join two overlapping clusters and split the result anew. Only in laps (passes over
/// all batches) in which no other move has a proposal.
std::unique_ptr<Move> make_mixture_resplit(const MoveContext& context, const MixtureAlloc& alloc);
/// Makes proposals that fit one cluster, or up to three neighbouring ones, anew: first with one cluster more,
/// then with the same number. Nearby rows are reassigned before the ELBO is compared. Only in laps in which
/// no other move has a proposal.
std::unique_ptr<Move> make_mixture_refit(const MoveContext& context, const MixtureAlloc& alloc);
/// Makes merges of pairs of clusters [Hughes 2016, §4.1]. If rows have latent scales, this is
/// make_refitted_merge().
std::unique_ptr<Move> make_mixture_merge(const MoveContext& context, const MixtureAlloc& alloc);
/// Makes merges of pairs of clusters that are judged after a short fit of the joined cluster.
std::unique_ptr<Move> make_refitted_merge(const MoveContext& context, const MixtureAlloc& alloc);
/// Makes proposals that delete one cluster and reassign its rows by restricted local steps (updates of q(z)
/// of these rows among the other clusters only) [Hughes 2016, §4.3].
std::unique_ptr<Move> make_mixture_delete(const MoveContext& context, const MixtureAlloc& alloc);

}  // namespace bnpvi::mixtures
