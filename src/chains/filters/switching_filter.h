// Filters of switching linear systems: modes are sampled by particles, states are computed exactly given the
// modes.
#pragma once
#include <memory>
#include <vector>

#include "chains/filters/linear_system.h"
#include "foundation/pool.h"

namespace bnpvi::chains {

/// State of the filter between two rows. A particle is one possible history of modes; it has a weight (all
/// sum to 1), and the mean and covariance of the hidden state x given this history. Empty before the first
/// row.
struct Particles {
  // for each particle: mode of the last row (−1: it has none); number of its linear system
  std::vector<int> mode, system;
  // n particles: weights (n); means (n × m) and covariances (n × m × m) of the hidden state x
  Vec weight, mean, cov;

  Index n() const { return static_cast<Index>(mode.size()); }
};

/// One row of data: its D cells (NaN: missing) and the known inputs of the linear system.
struct RowOfSystem {
  const double *y, *u;
};

/// Why the filter cannot process a row of data. no_density: the density of the row is 0 under every particle;
/// without_noise: the density does not exist, since a cell without noise is determined by the other cells
/// (update_state()); overflow: numbers are too large.
enum class Trouble { none, no_density, without_noise, overflow };

/// Results of the filter for one row. Means and variances are those of the mixture over all candidates
/// (particles extended by each mode), including the candidates that are not kept.
struct FilteredRow {
  Trouble trouble = Trouble::none;
  double log_density = 0;  // log of the estimated density p̂(y_t | y_1 .. t−1) of row t
  // effective number of histories: 1 / Σ W² over the weights W of the candidates
  double size = 0;
  // mode probabilities P(z_t | y_1 .. t), K numbers; empty if the row has no mode
  Vec prob;
  Vec mean, variance;              // of the hidden state x_t given y_1 .. t, m numbers each
  Vec ahead_mean, ahead_variance;  // of the data y_t given y_1 .. t−1, D numbers each
  // for each cell j, P(Y_j ≤ y_j | y_1 .. t−1), D numbers; NaN where y_j is missing
  Vec below;
  // for each kept particle: (number of the particle that it extends) × K + its mode
  std::vector<int> origin;
};

/// Rao-Blackwellised particle filter of linear systems that switch between K modes [Doucet and others 2000;
/// Fearnhead & Clifford 2003].
///
/// In each step every particle is extended by every mode, p̂(y_t) is the sum over all these candidates, and
/// at most `most` of them are kept (select_particles). p̂ is therefore unbiased, and exact as long as there
/// are at most `most` candidates. If there are several systems (of the same sizes), each is the true one with
/// equal prior probability. With `collapse`, particles with the same system and last mode are replaced by one
/// particle with their mean and covariance (second-order generalised pseudo-Bayesian filter). Nothing is
/// drawn then, but p̂ has a bias from the third row that has a mode. Rows without data are predicted exactly.
class SwitchingFilter {
 public:
  SwitchingFilter(std::vector<LinearSystem> systems, Index most, bool collapse);

  /// Updates the particles (histories of modes with weights) by one row of data and returns what the row
  /// showed. uniform: a random number on [0, 1). The threads of the pool, if there is one, share the work;
  /// results do not depend on the pool. If the result reports trouble, the particles are unchanged.
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
  // Computes mean and covariance of the hidden state x_t before row t is seen, if particle `parent` is
  // extended by this mode.
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
