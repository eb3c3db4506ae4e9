// Writes and reads the state of a fit of latent features: everything on which the rest of the fit depends.
#pragma once
#include "features/moves.h"

namespace bnpvi::features {

void write(Writer& out, const FeatureState& state);
/// Reads the state that write() wrote. The loadings have no gram matrices (second moments) yet; add_gram()
/// computes them.
FeatureState read_state(Reader& in);

void write(Writer& out, const FailedMoves& failed);
FailedMoves read_failed(Reader& in);

}  // namespace bnpvi::features
