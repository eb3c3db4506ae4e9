// Births by window: a mode that brings its own q(x).
#pragma once
#include "dynamics/lds_state.h"
#include "foundation/random.h"

namespace bnpvi::dynamics {

/// A window of 32 to 64 rows of a sequence, or all of a shorter one, gets a linear system of its own, and the
/// sequence a mode with 95 % of the window's rows and the window's q(x): at an x that was smoothed with the
/// present modes a new one cannot be seen. Rounds of the sequence follow, at least five, and up
/// to 30 while the proposal is within 40 nats of the present bound. True, and `state` the
/// proposal with all sequences visited, if the bound is higher. stream: which window. Where the number of
/// modes is fixed, an idle one is the newborn.
bool try_window_birth(const LdsProblem& problem, LdsState& state, Stream stream);

/// True if one more mode is allowed, or a mode is idle.
bool has_room(const LdsState& state);

}  // namespace bnpvi::dynamics
