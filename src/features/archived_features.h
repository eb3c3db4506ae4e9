// What the rest of a fit of latent features depends on, written and read.
#pragma once
#include "features/moves.h"

namespace bnpvi::features {

void write(Writer& out, const FeatureState& state);
/// Loadings come without gram (add_gram).
FeatureState read_state(Reader& in);

void write(Writer& out, const FailedMoves& failed);
FailedMoves read_failed(Reader& in);

}  // namespace bnpvi::features
