// Writes and reads the state of a fit of a switching linear dynamical system between two laps (passes over
// all data).
#pragma once
#include "dynamics/lds_state.h"
#include "foundation/archive.h"

namespace bnpvi::dynamics {

/// Writes the state of a fit between two laps (passes over all data). Left out are `alloc`, the model of the
/// modes, which the reader must supply, and `visited`, which each lap renews at its beginning.
void write(Writer& out, const LdsState& state);

/// Reads the state of a fit that write() wrote. alloc: the model of the modes. Throws std::invalid_argument
/// if the input is not such a state, or was written with other numerical kernels.
LdsState read_state(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, Reader& in);

}  // namespace bnpvi::dynamics
