// Merges and deletes of modes that are judged after q(x) has changed, too.
#pragma once
#include "dynamics/lds_state.h"

namespace bnpvi::dynamics {

/// Pairs of modes to be joined (a < b; none that is idle, where their number is fixed), those that lose least
/// by their evidence at fixed q(x) first, at most `most`.
std::vector<std::pair<Index, Index>> pairs_to_join(const LdsProblem& problem, const LdsState& state,
                                                   Index most);

/// Mode b joins a; b = k: the rows of a go to the other modes. q(x) was smoothed with the present modes, so
/// that the proposal gets some rounds of all steps before it is judged. True, and `state` the proposal, if
/// the bound is higher. Where the number of modes is fixed, one is idle after that.
bool try_join(const LdsProblem& problem, LdsState& state, Index a, Index b);

/// Tries to let modes a and b, whose noise is known, have that of each other, and to let q(x) and q(z)
/// follow.
bool try_exchange(const LdsProblem& problem, LdsState& state, Index a, Index b);

}  // namespace bnpvi::dynamics
