// Memoized coordinate ascent for latent features.
#pragma once
#include <string>

#include "features/moves.h"

namespace bnpvi::features {

struct FeatureOutcome {
  FeatureState state;
  std::vector<LapRecord> trace;
  bool converged = false;
  std::string reason;  // "elbo", "max_laps", "numerical" or "interrupted"
};

/// Laps over all batches, with moves, until a lap in which no move was accepted and births failed on end
/// raises the ELBO by less than tol a row. The ELBO is that of all rows at all times and never falls. Numbers
/// that break down, and with keep_interrupted a stop, end a fit with the lap before.
FeatureOutcome learn_features(const FeatureProblem& problem, FeatureState state, const LearnOptions& options);

}  // namespace bnpvi::features
