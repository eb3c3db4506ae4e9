// Births of modes of a switching system. A window of rows gets a new mode and a new q(x), the posterior of
// its hidden states.
#pragma once
#include "dynamics/lds_state.h"
#include "foundation/random.h"

namespace bnpvi::dynamics {

/// Proposes a new mode from a window: 32 to 64 consecutive rows of a sequence, or all rows of a shorter one,
/// drawn by `stream`. A linear system is fitted to the window alone. The new mode gets 95 % of the window's
/// rows, and the window gets the q(x) of that system. (With the present q(x), which was smoothed with the
/// present modes, no new mode can be found.) Then at least five rounds of steps on the sequence follow, and
/// up to 30 while the proposal is within 40 nats of the present bound. Finally all sequences are visited. If
/// the bound is higher, `state` becomes the proposal, and the result is true. If the number of modes is
/// fixed, an idle mode becomes the new one.
bool try_window_birth(const LdsProblem& problem, LdsState& state, Stream stream);

/// True if the number of modes may grow by one, or if a mode is idle (has almost no rows).
bool has_room(const LdsState& state);

}  // namespace bnpvi::dynamics
