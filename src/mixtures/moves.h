// The moves of mixtures.
#pragma once
#include "inference/moves/move.h"
#include "mixtures/mixture.h"

namespace bnpvi::mixtures {

/// Birth within one cluster [Hughes 2016, §4.2], on its rows in all batches.
std::unique_ptr<Move> make_mixture_birth(const MoveContext& context, const MixtureAlloc& alloc);
/// One pair of clusters is joined and another cluster split in two: K is kept [Ueda et al. 2000].
std::unique_ptr<Move> make_mixture_exchange(const MoveContext& context, const MixtureAlloc& alloc);
/// Two overlapping clusters are joined and split anew, in laps in which no other move has anything to try.
std::unique_ptr<Move> make_mixture_resplit(const MoveContext& context, const MixtureAlloc& alloc);
/// A cluster, or up to three near each other, fitted anew with one cluster more, then with as many; judged
/// after the rows around have moved to whichever cluster they like. In laps in which no other move has
/// anything to try.
std::unique_ptr<Move> make_mixture_refit(const MoveContext& context, const MixtureAlloc& alloc);
/// Merge of pairs of clusters [Hughes 2016, §4.1]; where rows hide scales, the one below.
std::unique_ptr<Move> make_mixture_merge(const MoveContext& context, const MixtureAlloc& alloc);
/// The same of pairs that are fitted together first.
std::unique_ptr<Move> make_refitted_merge(const MoveContext& context, const MixtureAlloc& alloc);
/// Deletion of one cluster, its rows reassigned by restricted local steps [Hughes 2016, §4.3].
std::unique_ptr<Move> make_mixture_delete(const MoveContext& context, const MixtureAlloc& alloc);

}  // namespace bnpvi::mixtures
