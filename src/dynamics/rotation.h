// Hidden states in other coordinates.
#pragma once
#include "dynamics/lds_state.h"

namespace bnpvi::dynamics {

/// x → G x with q(x), q(A_k) and q(C) carried along changes nothing but the terms of the priors, where
/// loadings are learned. Takes the G (m × m) near 1 that makes the bound highest, by L-BFGS, and visits all
/// rows again if the bound is higher there; else leaves the state alone.
void rotate(const LdsProblem& problem, LdsState& state);

}  // namespace bnpvi::dynamics
