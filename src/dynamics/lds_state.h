// The state of a fit of a switching linear dynamical system, and its three steps: updates of q(x), of q(z)
// and of the parameters. No step lowers the bound.
#pragma once
#include <memory>

#include "dynamics/expected_system.h"
#include "dynamics/latent_path.h"
#include "inference/learn/state.h"

namespace bnpvi::dynamics {

/// A mode with fewer rows than this is idle, that is, hardly in use (where the number of modes is fixed). A
/// guess.
inline constexpr double idle_rows = 1;

/// The fixed parts of a fit of a switching system: data, models, priors and options. obs: observation model
/// of the modes (make_system), in the units of the hidden columns (log_unit). emission, start: priors in
/// engine units (columns divided by their units).
struct LdsProblem {
  const Series& series;
  const ObsModel& obs;
  EmissionPrior emission;
  StartPrior start;
  Index m;
  double log_unit;           // Σ log unit of the m hidden columns; 0 if they have no units
  Vec log_units;             // logarithm of the unit of each observed column
  std::vector<Index> units;  // sequences in which at least one row has a mode
  Vec row_weight;            // weight of each row; empty: all 1
  std::uint64_t seed = 0;
  Pool& pool;
  Observer& observer = nobody;

  /// The observation model if each mode has a separate emission, else null. With separate emissions every row
  /// has a mode; otherwise all but the first row of a sequence.
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

/// The state of a fit: q(x) and q(z), the posteriors of hidden states and modes, and the globals (parameters'
/// posterior) that are optimal for them. A plain value.
struct LdsState {
  std::shared_ptr<const AllocModel> alloc;
  LatentPaths paths;
  Index k = 1;
  Vec r;                           // probabilities of modes, n × K; 0 in rows that have no mode
  EmissionStatistics seen;         // emission's statistics of all rows; 0 if modes have separate emissions
  std::vector<Emission> emission;  // posterior of the emission: one for all modes, or one for each mode
  Summary total;                   // summary of all rows, given r and paths
  Globals globals;                 // the globals that are optimal for total
  Globals visited;                 // the globals at which assign() computed r and total
  Terms terms;
  double elbo = 0;
};

/// A data set with the expected features E φ of each row of the data, a view into the memory of `state`.
Dataset expected_rows(const LdsProblem& problem, const LdsState& state);

/// Makes the state with mode probabilities r (q(z), n × K, row-major) and q(x) in `paths`. The globals
/// (posterior of the parameters) are optimal for both, as if the modes of different rows were independent.
LdsState state_of(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, LatentPaths paths,
                  Vec r, Index k);

/// The weights (p numbers) of a single mode whose coefficients and precision are known and equal to their
/// prior expectations. A fit starts with them. If the coefficients were uncertain as in the prior, hidden
/// states far from the origin would be drawn towards it.
Vec point_weights(const LdsProblem& problem);

/// The q(x) with which a fit starts, with the mode's weights from point_weights() and the emission at its
/// prior. In it every hidden state is near the one before.
LatentPaths prior_paths(const LdsProblem& problem);

/// The q(x) of hidden states that have these means (n × m) and no variance.
LatentPaths paths_at(const LdsProblem& problem, const Vec& mean);

/// The optimal posterior of each emission. An emission that all modes share is optimal for `seen`, the
/// statistic of all rows. Otherwise the emission of each mode is optimal for the mode's statistic in `total`.
std::vector<Emission> emissions_at(const LdsProblem& problem, const EmissionStatistics& seen,
                                   const Summary& total);

/// Updates q(x) of the given sequences (null: all) to its optimum (x-step), at the present mode
/// probabilities, globals (posterior of the parameters) and emissions. The statistics stay as they are.
void smooth(const LdsProblem& problem, LdsState& state, const std::vector<Index>* groups);

/// Updates q(z) of all sequences to its optimum at the present globals (z-step). Sets the mode probabilities
/// `r`, the statistics `total`, and `visited`.
void assign(const LdsProblem& problem, LdsState& state);

/// Updates q(z) of one sequence to its optimum at the globals `at` (posterior of the parameters). Sets its
/// mode probabilities r and returns its summary (sums of statistics).
Summary assign_one(const LdsProblem& problem, LdsState& state, Index group, const Globals& at);

/// The statistics of an emission that all modes share, summed over all rows (or over those of one sequence);
/// 0 if modes have separate emissions.
EmissionStatistics emission_of(const LdsProblem& problem, const LatentPaths& paths);
EmissionStatistics emission_of_one(const LdsProblem& problem, const LatentPaths& paths, Index group);

/// The summary of one sequence, given its mode probabilities r and q(x) (paths). Treats the modes of its rows
/// as independent.
Summary independent_summary(const LdsProblem& problem, const LdsState& state, Index group);

/// The global step: makes the posterior of the parameters optimal for the summary `state.total` of all
/// sequences and that of the emissions optimal for `state.seen`, then computes the bound.
void renew(const LdsProblem& problem, LdsState& state);

/// Computes the bound and its terms at the present parameters' posterior.
void evaluate(const LdsProblem& problem, LdsState& state);

/// Replaces the state by the proposal and calls the observer. The proposal's q(z) must come from assign().
void accept(const LdsProblem& problem, LdsState& state, LdsState proposal);

/// Makes one x-step (update of q(x)), one z-step (update of q(z)) and one global step (update of the
/// parameters' posterior).
void one_round(const LdsProblem& problem, LdsState& state);

}  // namespace bnpvi::dynamics
