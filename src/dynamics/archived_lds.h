// The state of a switching linear dynamical system between two laps, written and read.
#pragma once
#include "dynamics/lds_state.h"
#include "foundation/archive.h"

namespace bnpvi::dynamics {

/// Without `alloc`, and without `visited`, which a lap begins by renewing.
void write(Writer& out, const LdsState& state);

/// Throws std::invalid_argument when that is no such state, or was written with other kernels.
LdsState read_state(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, Reader& in);

}  // namespace bnpvi::dynamics
