// Merges and deletes of modes of a switching system, which are accepted or refused only after q(x), the
// posterior of the hidden states, was smoothed again.
#pragma once
#include "dynamics/lds_state.h"

namespace bnpvi::dynamics {

/// Chooses at most `most` pairs of modes a < b to be joined, in ascending order of the log evidence that is
/// lost at fixed q(x), the posterior of hidden states. If the number of modes is fixed, pairs with an idle
/// mode (one almost without rows) are left out.
std::vector<std::pair<Index, Index>> pairs_to_join(const LdsProblem& problem, const LdsState& state,
                                                   Index most);

/// Proposes that mode b joins a or, if b = k, that the rows of a go to the other modes. Since q(x), the
/// posterior of hidden states, was smoothed with the present modes, the proposal gets some rounds of all
/// steps before it is compared. Returns true, with `state` the proposal, if the bound is higher. If the
/// number of modes is fixed, one is idle (has almost no rows) afterwards.
bool try_join(const LdsProblem& problem, LdsState& state, Index a, Index b);

/// Proposes that modes a and b, whose noise variances are known, swap these variances, and then updates q(x)
/// and q(z). Returns true, with `state` the proposal, if the bound is higher.
bool try_exchange(const LdsProblem& problem, LdsState& state, Index a, Index b);

}  // namespace bnpvi::dynamics
