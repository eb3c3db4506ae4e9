// Writes and reads the state of a fit of a switching linear dynamical system between two laps (passes over
// all data).
#pragma once
#include "dynamics/lds_state.h"
#include "foundation/archive.h"

namespace bnpvi::dynamics {

/// Writes all but `alloc`, which the reader must supply, and `visited`, which each lap renews at its
/// beginning.
void write(Writer& out, const LdsState& state);

/// Throws std::invalid_argument if the input is not such a state, or was written with other numerical
/// kernels.
LdsState read_state(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, Reader& in);

}  // namespace bnpvi::dynamics
