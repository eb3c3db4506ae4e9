// Merges and deletes of modes of a switching system. Each is judged only after q(x), the posterior of the
// hidden states, was smoothed again.
#pragma once
#include "dynamics/lds_state.h"

namespace bnpvi::dynamics {

/// Chooses at most `most` pairs of modes a < b to be joined. First come pairs that lose least log evidence at
/// fixed q(x), the posterior of the hidden states. If the number of modes is fixed, pairs with an idle mode
/// (almost without rows) are left out.
std::vector<std::pair<Index, Index>> pairs_to_join(const LdsProblem& problem, const LdsState& state,
                                                   Index most);

/// Proposes that mode b joins a. If b = k, it proposes instead that the rows of a go to the other modes. The
/// present q(x), the posterior of hidden states, was smoothed with the present modes. So the proposal gets
/// some rounds of all steps before it is compared. If its bound is higher, `state` becomes the proposal, and
/// the result is true. If the number of modes is fixed, one mode is then idle (has almost no rows).
bool try_join(const LdsProblem& problem, LdsState& state, Index a, Index b);

/// Proposes that modes a and b swap their known noise variances, and updates q(x) and q(z). If the bound of
/// the proposal is higher, `state` becomes the proposal, and the result is true.
bool try_exchange(const LdsProblem& problem, LdsState& state, Index a, Index b);

}  // namespace bnpvi::dynamics
