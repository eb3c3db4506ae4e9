// Linear changes of the coordinates of hidden states, which may raise the bound of a fit with learned
// loadings.
#pragma once
#include "dynamics/lds_state.h"

namespace bnpvi::dynamics {

/// Replaces the hidden states x by G x to raise the bound; for models with learned loadings. q(x), q(A_k) and
/// q(C) are transformed alike, so only the terms of the priors in the bound change. L-BFGS finds the matrix G
/// (m × m), near the identity, for which the bound is largest. Then all rows are visited again. The change is
/// undone unless the bound is higher.
void rotate(const LdsProblem& problem, LdsState& state);

}  // namespace bnpvi::dynamics
