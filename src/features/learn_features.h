// Memoized coordinate ascent for latent features.
#pragma once
#include <functional>

#include "features/feature_progress.h"

namespace bnpvi::features {

/// Laps over all batches, with moves, until a lap in which no move was accepted and births failed on end
/// raises the ELBO by less than tol a row. The ELBO is that of all rows at all times and never falls. Numbers
/// that break down, and with keep_interrupted a stop, end a fit with the lap before. after_lap: called with
/// what the next lap begins from; may be empty.
FeatureProgress learn_features(const FeatureProblem& problem, FeatureProgress from,
                               const LearnOptions& options,
                               const std::function<void(const FeatureProgress&)>& after_lap);

}  // namespace bnpvi::features
