// Whether the state of a fit of latent features that was read from a file can be gone on with.
#pragma once
#include "features/feature_state.h"

namespace bnpvi::features {

/// Throws std::invalid_argument unless all sizes and numbers by which the engine looks things up are those of
/// a fit of this problem. A file may be whole and hold anything.
void require_state(const FeatureProblem& problem, const FeatureState& state);

}  // namespace bnpvi::features
