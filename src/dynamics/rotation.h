// Linear changes of the coordinates of hidden states, which may raise the bound of a fit with learned
// loadings.
#pragma once
#include "dynamics/lds_state.h"

namespace bnpvi::dynamics {

/// Replaces the hidden states x by G x, where the matrix G (m × m), near the identity, maximises the bound;
/// for models with learned loadings. If q(x), q(A_k) and q(C) are transformed alike, only the terms of the
/// priors in the bound change; the search is L-BFGS. Afterwards all rows are visited again. The state stays
/// as it was unless the bound is then higher.
void rotate(const LdsProblem& problem, LdsState& state);

}  // namespace bnpvi::dynamics
