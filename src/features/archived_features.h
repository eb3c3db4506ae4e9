// Writes and reads everything on which the rest of a fit of latent features depends.
#pragma once
#include "features/moves.h"

namespace bnpvi::features {

void write(Writer& out, const FeatureState& state);
/// Reads what write() wrote. The loadings have no gram matrices yet; add_gram() computes them from the rest.
FeatureState read_state(Reader& in);

void write(Writer& out, const FailedMoves& failed);
FailedMoves read_failed(Reader& in);

}  // namespace bnpvi::features
