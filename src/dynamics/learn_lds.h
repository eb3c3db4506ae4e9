// Coordinate ascent for switching linear dynamical systems.
#pragma once
#include "dynamics/lds_state.h"
#include "inference/learn.h"

namespace bnpvi::dynamics {

struct LdsOutcome {
  LdsState state;
  std::vector<LapRecord> trace;
  bool converged = false;
  std::string reason;  // "elbo", "max_laps", "numerical" or "interrupted"
};

/// Laps until one gains less than tol a row, no move was accepted and windows were tried in vain. A lap has
/// two x- and z-steps, the global step, a tried step beyond the optimal noise, and, once laps gain little,
/// moves: those of hidden Markov models at fixed q(x), where the model is one on the rows E φ, so that gains
/// are exact, and births by window. The bound never falls. Numbers that break down, and with keep_interrupted
/// a stop, end a fit with the lap before.
LdsOutcome learn_lds(const LdsProblem& problem, LdsState state, const LearnOptions& options);

/// One mode everywhere, q(x) as given.
LdsState one_mode(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, LatentPaths paths);

/// q(z) of the hidden Markov model in which the means of q(x), a point in `rows`, are what is seen, fitted
/// with its moves from k states; q(x) is `paths`. ar: its observation model, of expected rows.
LdsState start_from_rows(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc,
                         const ObsModel& ar, const LatentPaths& rows, LatentPaths paths, Index k,
                         const LearnOptions& options);

}  // namespace bnpvi::dynamics
