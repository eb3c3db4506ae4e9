// Linear changes of the coordinates of hidden states.
#pragma once
#include "dynamics/lds_state.h"

namespace bnpvi::dynamics {

/// For learned loadings. Transforming x → G x, with q(x), q(A_k) and q(C) transformed alike, changes only the
/// terms of the priors in the bound. Finds the G (m × m) near 1 that maximises the bound, by L-BFGS, and
/// visits all rows again; leaves the state as it was unless the bound is then higher.
void rotate(const LdsProblem& problem, LdsState& state);

}  // namespace bnpvi::dynamics
