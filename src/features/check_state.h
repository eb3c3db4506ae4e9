// Checks the state of a fit of latent features that was read from a file.
#pragma once
#include "features/feature_state.h"

namespace bnpvi::features {

/// Throws std::invalid_argument unless all sizes, and all numbers that the engine uses as indices, are
/// possible for a fit of this problem. This is needed since a file may be complete and yet hold any numbers.
void require_state(const FeatureProblem& problem, const FeatureState& state);

}  // namespace bnpvi::features
