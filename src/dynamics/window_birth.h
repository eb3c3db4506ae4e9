// Births by window: a mode that brings its own q(x).
#pragma once
#include "dynamics/lds_state.h"
#include "foundation/random.h"

namespace bnpvi::dynamics {

/// A window of 32 to 64 rows of a sequence, or all of a shorter one, gets a linear system of its own, and the
/// sequence a mode with 95 % of the window's rows and the window's q(x): at an x that was smoothed with the
/// present modes a new one cannot be seen. Five to ten rounds of the sequence follow. True, and `state` the
/// proposal with all sequences visited, if the bound is higher. stream: which window.
bool try_window_birth(const LdsProblem& problem, LdsState& state, Stream stream);

/// Windows of 48 rows that the sequences have, at least 1.
Index count_windows(const Series& series);

}  // namespace bnpvi::dynamics
