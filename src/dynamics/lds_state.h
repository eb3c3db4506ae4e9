// A switching linear dynamical system in the middle of a fit: three kinds of steps, none of which lowers the
// bound.
#pragma once
#include <memory>

#include "dynamics/expected_system.h"
#include "dynamics/latent_path.h"
#include "inference/learn/state.h"

namespace bnpvi::dynamics {

/// Rows below which a mode is idle, where their number is fixed: a guess.
inline constexpr double idle_rows = 1;

/// What a fit does not change. obs: of expected rows (make_system), in units of their own, as
/// latent_unit says; emission and start are in engine units.
struct LdsProblem {
  const Series& series;
  const ObsModel& obs;
  EmissionPrior emission;
  StartPrior start;
  Index m;
  double log_unit;           // Σ log unit of the m hidden columns: 0 where they have none
  Vec log_units;             // log unit of each observed column
  std::vector<Index> units;  // sequences of whose rows some have modes
  Vec row_weight;            // of each row, or empty: all 1
  std::uint64_t seed = 0;
  Pool& pool;
  Observer& observer = nobody;

  /// Has each mode an emission of its own? Then all rows have modes, else those that follow another one.
  const ExpectedSystem* by_mode() const {
    return emission.by_mode ? &static_cast<const ExpectedSystem&>(obs) : nullptr;
  }
  const ObsModel& dynamics() const { return emission.by_mode ? by_mode()->dynamics() : obs; }
  const double* of_dynamics(const double* t) const {
    return emission.by_mode ? by_mode()->of_dynamics(t) : t;
  }
  /// The first row of a sequence that has a mode.
  Index first_row(Index group) const { return series.starts[group] + (emission.by_mode ? 0 : 1); }
};

/// q(x), q(z) and the globals that are optimal for them. A plain value.
struct LdsState {
  std::shared_ptr<const AllocModel> alloc;
  LatentPaths paths;
  Index k = 1;
  Vec r;                           // n × K; rows that have no mode have zeros
  EmissionStatistics seen;         // of all rows; by mode it is part of `total`, and this is 0
  std::vector<Emission> emission;  // optimal for that: one, or one for each mode
  Summary total;                   // of all rows, at r and paths
  Globals globals;                 // optimal for total
  Globals visited;                 // at which r was found, where total is that of assign()
  Terms terms;
  double elbo = 0;
};

/// The data of expected rows: a view of the state's features.
Dataset expected_rows(const LdsProblem& problem, const LdsState& state);

/// q(z) and q(x) as given (r: n × K, row-major; q(x) in `paths`), and the globals that are optimal for them
/// as if the modes of different rows were independent.
LdsState state_of(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, LatentPaths paths,
                  Vec r, Index k);

/// Weights (p) of one mode that has the prior's coefficients and expected precision, taken as known: far from
/// the origin what the prior does not know of coefficients would draw hidden states there.
Vec point_weights(const LdsProblem& problem);

/// q(x) under these and the prior of the emission: every row near the one before.
LatentPaths prior_paths(const LdsProblem& problem);

/// q(x) with these means (n × m) and no variance.
LatentPaths paths_at(const LdsProblem& problem, const Vec& mean);

/// The emissions that are optimal for a statistic of all rows, or by mode for their totals.
std::vector<Emission> emissions_at(const LdsProblem& problem, const EmissionStatistics& seen,
                                   const Summary& total);

/// x-step: q(x) of the given sequences (all: null) that is optimal for r, the globals and the emissions.
/// Statistics are left as they are.
void smooth(const LdsProblem& problem, LdsState& state, const std::vector<Index>* groups);

/// z-step: q(z) of all sequences at the globals; r, total and `visited`.
void assign(const LdsProblem& problem, LdsState& state);

/// z-step of one sequence: its r and its summary. at: the globals.
Summary assign_one(const LdsProblem& problem, LdsState& state, Index group, const Globals& at);

/// Statistics of the emission that all modes share, of all rows or of one sequence; else 0.
EmissionStatistics emission_of(const LdsProblem& problem, const LatentPaths& paths);
EmissionStatistics emission_of_one(const LdsProblem& problem, const LatentPaths& paths, Index group);

/// Summary of one sequence at r and paths, as if the modes of its rows were independent.
Summary independent_summary(const LdsProblem& problem, const LdsState& state, Index group);

/// Global step at `total` and `seen`, then the bound.
void renew(const LdsProblem& problem, LdsState& state);

/// The bound and its terms at the present globals.
void evaluate(const LdsProblem& problem, LdsState& state);

/// Puts the proposal, whose q(z) is that of assign(), in place of the state, and calls the observer.
void accept(const LdsProblem& problem, LdsState& state, LdsState proposal);

/// An x-step, a z-step and a global step of all sequences.
void one_round(const LdsProblem& problem, LdsState& state);

}  // namespace bnpvi::dynamics
