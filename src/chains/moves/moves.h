// The moves of hidden Markov models: proposals that change the list of states.
#pragma once
#include "chains/model/hmm.h"
#include "inference/moves/move.h"

namespace bnpvi::chains {

/// Birth: some stretches of consecutive rows of one state move to new states [Hughes 2016, §6.5.2].
std::unique_ptr<Move> make_hmm_birth(const MoveContext& context, const HmmAlloc& alloc);
/// Resplit: two or three similar states are joined, and their rows are divided anew among as many states.
std::unique_ptr<Move> make_hmm_resplit(const MoveContext& context, const HmmAlloc& alloc);
/// Merge: two states are joined; if this succeeds, several pairs are joined in one proposal.
std::unique_ptr<Move> make_hmm_merge(const MoveContext& context, const HmmAlloc& alloc);
/// Delete: a state is removed, and the sequences in which it has expected rows are visited again without it.
std::unique_ptr<Move> make_hmm_delete(const MoveContext& context, const HmmAlloc& alloc);
/// Exchange, for models whose states are not exchangeable. Two states swap their observation statistics, or
/// the observation statistics of all states are shifted cyclically.
std::unique_ptr<Move> make_hmm_exchange(const MoveContext& context, const HmmAlloc& alloc);

}  // namespace bnpvi::chains
