// Filters of switching linear systems: modes are sampled by particles, states are computed exactly given the
// modes.
#pragma once
#include <memory>
#include <vector>

#include "chains/filters/linear_system.h"
#include "foundation/pool.h"

namespace bnpvi::chains {

/// What the filter knows between two rows: a set of particles. A particle is one possible history of modes.
/// It has a weight (the weights sum to 1), and the mean and covariance of the hidden state x given this
/// history. No particles before the first row.
struct Particles {
  // for each particle: its mode in the last row (−1: the row has no mode); number of its linear system
  std::vector<int> mode, system;
  // n particles: weights (n); means (n × m) and covariances (n × m × m) of the hidden state x
  Vec weight, mean, cov;

  Index n() const { return static_cast<Index>(mode.size()); }
};

/// One row of data: its D cells (NaN: missing) and the known inputs of the linear system.
struct RowOfSystem {
  const double *y, *u;
};

/// Why the filter cannot process a row of data. no_density: the density of the row is 0 under every particle.
/// without_noise: the row has no density, since a cell without noise is determined by the other cells
/// (update_state()). overflow: numbers are too large.
enum class Trouble { none, no_density, without_noise, overflow };

/// Results of the filter for one row t. Means and variances are taken over all candidates (every particle
/// extended by every mode), including candidates that are not kept as particles.
struct FilteredRow {
  Trouble trouble = Trouble::none;
  double log_density = 0;  // log of the estimated density p̂(y_t | y_1 .. t−1) of row t
  // effective number of histories: 1 / Σ W², where W are the weights of the candidates
  double size = 0;
  // mode probabilities P(z_t | y_1 .. t), K numbers; empty if the row has no mode
  Vec prob;
  Vec mean, variance;              // of the hidden state x_t given y_1 .. t, m numbers each
  Vec ahead_mean, ahead_variance;  // of the data y_t given y_1 .. t−1, D numbers each
  // for each cell j, P(Y_j ≤ y_j | y_1 .. t−1), D numbers; NaN where y_j is missing
  Vec below;
  // for each kept particle: K × (number of the old particle that it extends) + its mode
  std::vector<int> origin;
};

/// Rao-Blackwellised particle filter of linear systems that switch between K modes [Doucet and others 2000;
/// Fearnhead & Clifford 2003].
///
/// In each step every particle is extended by every mode. The density p̂(y_t) is the sum over all these
/// candidates, and at most `most` of the candidates are kept (select_particles()). So p̂ is unbiased, and it
/// is exact while there are at most `most` candidates. There may be several linear systems of the same sizes;
/// each has the same prior probability of being the true one. Rows without data are predicted exactly.
///
/// collapse: particles with the same system and last mode are replaced by one particle with their mean and
/// covariance (second-order generalised pseudo-Bayesian filter). Nothing is drawn then, but p̂ is biased from
/// the third row that has a mode.
class SwitchingFilter {
 public:
  SwitchingFilter(std::vector<LinearSystem> systems, Index most, bool collapse);

  /// Updates the particles by one row of data, and returns what the filter knows of the row. uniform: a
  /// random number on [0, 1). pool: threads that share the work, or null; results do not depend on it. If the
  /// result reports trouble, the particles are unchanged.
  FilteredRow step(Particles& particles, const RowOfSystem& row, double uniform, Pool* pool) const;

  const LinearSystem& system(Index i = 0) const { return systems_[i]; }
  Index n_systems() const { return static_cast<Index>(systems_.size()); }

 private:
  struct Candidates;
  class SeenRow;  // row of data with independent noise (observe()), under each system and mode
  bool has_mode(const Particles& particles) const { return particles.n() > 0 || systems_[0].by_mode; }
  Index parents(const Particles& particles) const;
  int system_of(const Particles& particles, Index parent) const;
  double prior_of(const Particles& particles, Index parent, Index mode) const;
  // Computes mean and covariance of the hidden state x_t before row t is seen, for the candidate that extends
  // particle `parent` by this mode.
  void place(const Particles& particles, Index parent, Index mode, const double* u, double* mean,
             double* cov) const;
  Trouble extend(const Particles& particles, const SeenRow& row, Index parent, Candidates& all) const;
  void describe(const Candidates& all, const Vec& weight, const double* y, bool has_mode,
                FilteredRow& out) const;
  Particles keep(const Particles& from, const SeenRow& row, const Candidates& all, const Vec& weight,
                 double uniform, Pool* pool, std::vector<int>& origin) const;
  Particles merge(const Particles& from, const SeenRow& row, const Candidates& all, const Vec& weight) const;

  std::vector<LinearSystem> systems_;
  Index most_;
  bool collapse_;
};

}  // namespace bnpvi::chains
