// Births of modes of a switching system: a window of rows gets a new mode and a new q(x), the posterior of
// its hidden states.
#pragma once
#include "dynamics/lds_state.h"
#include "foundation/random.h"

namespace bnpvi::dynamics {

/// Proposes a new mode from a window of 32 to 64 rows of a sequence (all rows of a shorter one), drawn by
/// `stream`.
/// A linear system is fitted to the window alone; the new mode then gets 95 % of the window's rows, and the
/// window the q(x) of that system. (At a q(x) that was smoothed with the present modes, no new mode can be
/// found.) At least five rounds of steps on the sequence follow, and up to 30 as long as the proposal is
/// within 40 nats of the present bound. Returns true, with `state` the proposal after a visit of all
/// sequences, if the bound is higher. If the number of modes is fixed, an idle mode becomes the new one.
bool try_window_birth(const LdsProblem& problem, LdsState& state, Stream stream);

/// True if the number of modes may grow by one, or a mode is idle (has almost no rows).
bool has_room(const LdsState& state);

}  // namespace bnpvi::dynamics
