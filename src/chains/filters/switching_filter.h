// Filters of linear systems that switch: the modes by particles, the states given the modes exactly.
#pragma once
#include <memory>
#include <vector>

#include "chains/filters/linear_system.h"
#include "foundation/pool.h"

namespace bnpvi::chains {

/// Histories of modes with their weights, which sum to 1, and N(mean, cov) of the state given each: a filter
/// between two rows. None before the first row.
struct Particles {
  std::vector<int> mode, system;  // of the last row (−1: it has none); which parameters
  Vec weight, mean, cov;          // n, n × m, n × m × m

  Index n() const { return static_cast<Index>(mode.size()); }
};

/// What is given of a row: D cells (NaN: missing), and its inputs.
struct RowOfSystem {
  const double *y, *u;
};

/// Why a row cannot be taken in: its density is 0 under every particle, or does not exist; numbers are too
/// large.
enum class Trouble { none, no_density, without_noise, overflow };

/// What a row says. Moments are of mixtures over all candidates, those that are not kept included.
struct FilteredRow {
  Trouble trouble = Trouble::none;
  double log_density = 0;          // log p̂(y_t | y_1 .. t−1)
  double size = 0;                 // 1 / Σ W² of the candidates, the effective number of histories
  Vec prob;                        // K: P(z_t | y_1 .. t); empty where the row has no mode
  Vec mean, variance;              // m: of x_t | y_1 .. t
  Vec ahead_mean, ahead_variance;  // D: of y_t | y_1 .. t−1
  Vec below;                // D: P(a cell of at most this value | y_1 .. t−1); NaN where it is missing
  std::vector<int> origin;  // of each particle kept: the number of its parent times K, plus its mode
};

/// Rao-Blackwellised filter [Doucet and others 2000; Fearnhead & Clifford 2003]: every particle is extended
/// by every mode, p̂ is the sum over all of these, and at most `most` are kept (select_particles), so that p̂
/// is unbiased, and exact while no more are there. Of several systems (of the same sizes) each is the truth
/// with equal probability. With `collapse`, particles of the same system and last mode become one with their
/// mean and covariance instead (second-order generalised pseudo-Bayesian): no draws, but p̂ is biased from the
/// third row with a mode on. Its moments are exact in rows without data.
class SwitchingFilter {
 public:
  SwitchingFilter(std::vector<LinearSystem> systems, Index most, bool collapse);

  /// Takes in one row; uniform: on [0, 1). Candidates are shared out among the threads of the pool, if there
  /// is one; results do not depend on it. In trouble the particles stay as they were.
  FilteredRow step(Particles& particles, const RowOfSystem& row, double uniform, Pool* pool) const;

  const LinearSystem& system(Index i = 0) const { return systems_[i]; }
  Index n_systems() const { return static_cast<Index>(systems_.size()); }

 private:
  struct Candidates;
  class SeenRow;  // as each system and mode sees it
  bool has_mode(const Particles& particles) const { return particles.n() > 0 || systems_[0].by_mode; }
  Index parents(const Particles& particles) const;
  int system_of(const Particles& particles, Index parent) const;
  double prior_of(const Particles& particles, Index parent, Index mode) const;
  // Mean and covariance of x_t before the row is seen.
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
