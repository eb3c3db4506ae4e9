// Filters of switching linear systems: modes are sampled by particles, states are computed exactly given the
// modes.
#pragma once
#include <memory>
#include <vector>

#include "chains/filters/linear_system.h"
#include "foundation/pool.h"

namespace bnpvi::chains {

/// State of the filter between two rows: histories of modes (particles) with weights that sum to 1, and the
/// mean and covariance of the state x given each history. Empty before the first row.
struct Particles {
  std::vector<int> mode, system;  // mode of the last row (−1: none); number of the system
  Vec weight, mean, cov;          // per particle: weight (n); mean (n × m) and covariance (n × m × m) of x

  Index n() const { return static_cast<Index>(mode.size()); }
};

/// One row of data: D cells (NaN: missing) and the inputs.
struct RowOfSystem {
  const double *y, *u;
};

/// Why a row cannot be processed. no_density: its density is 0 under every particle; without_noise: its
/// density does not exist (update_state()); overflow: numbers are too large.
enum class Trouble { none, no_density, without_noise, overflow };

/// Results for one row. Moments are those of the mixture over all candidates (particles extended by each
/// mode), including candidates that are not kept.
struct FilteredRow {
  Trouble trouble = Trouble::none;
  double log_density = 0;          // log p̂(y_t | y_1 .. t−1)
  double size = 0;                 // 1 / Σ W² of the candidates, the effective number of histories
  Vec prob;                        // P(z_t | y_1 .. t), K numbers; empty where the row has no mode
  Vec mean, variance;              // of x_t given y_1 .. t, m numbers each
  Vec ahead_mean, ahead_variance;  // of y_t given y_1 .. t−1, D numbers each
  Vec below;                       // P(Y_j ≤ y_j | y_1 .. t−1), D numbers; NaN where y_j is missing
  std::vector<int> origin;         // for each kept particle: number of its parent × K + its mode
};

/// Rao-Blackwellised filter [Doucet and others 2000; Fearnhead & Clifford 2003]. Every particle is extended
/// by every mode, p̂(y_t) is the sum over all these candidates, and at most `most` of them are kept
/// (select_particles). p̂ is therefore unbiased, and exact as long as there are at most `most` candidates. If
/// there are several systems (of the same sizes), each is the true one with equal prior probability. With
/// `collapse`, particles with the same system and last mode are replaced by one particle with their mean and
/// covariance (second-order generalised pseudo-Bayesian filter): nothing is drawn, but p̂ is biased from the
/// third row with a mode on. Moments are exact in rows without data.
class SwitchingFilter {
 public:
  SwitchingFilter(std::vector<LinearSystem> systems, Index most, bool collapse);

  /// Updates the particles by one row. uniform: a random number on [0, 1). Candidates are divided among the
  /// threads of the pool, if there is one; results do not depend on the pool. If the result reports trouble,
  /// the particles are unchanged.
  FilteredRow step(Particles& particles, const RowOfSystem& row, double uniform, Pool* pool) const;

  const LinearSystem& system(Index i = 0) const { return systems_[i]; }
  Index n_systems() const { return static_cast<Index>(systems_.size()); }

 private:
  struct Candidates;
  class SeenRow;  // the row as observed under each system and mode
  bool has_mode(const Particles& particles) const { return particles.n() > 0 || systems_[0].by_mode; }
  Index parents(const Particles& particles) const;
  int system_of(const Particles& particles, Index parent) const;
  double prior_of(const Particles& particles, Index parent, Index mode) const;
  // Mean and covariance of x_t before the row is seen, for the candidate (parent, mode).
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
