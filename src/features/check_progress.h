// Whether a fit of latent features that was read from a file can be gone on with.
#pragma once
#include "features/feature_progress.h"

namespace bnpvi::features {

/// Throws std::invalid_argument unless all sizes and numbers by which the engine looks things up are those of
/// a fit of this problem. A file may be whole and hold anything.
void require_progress(const FeatureProblem& problem, const FeatureProgress& progress);

}  // namespace bnpvi::features
