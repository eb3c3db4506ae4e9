// Paths of a hidden Markov chain, drawn given the data: forward filtering, backward sampling.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "foundation/types.h"

namespace bnpvi::chains {

/// A chain of K states with known transitions.
class PathFilter {
 public:
  /// log_rows ((K + 1) × K): log probabilities of the first state, then of the next state after each state;
  /// they need not sum to 1, and may be −∞.
  PathFilter(Index k, const Vec& log_rows);

  /// Draws the states of n rows of one sequence with probability ∝ Π_t e_t(z_t) p(z_t | z_t−1). log_e (n × K;
  /// may be −∞): log e, overwritten. With slices (n; else null) a step into row t is as good as any other if
  /// its log probability is at least log_slice[t], and impossible if not [Van Gael et al. 2008]; steps that
  /// are not looked at take no time. Throws std::domain_error where no path is possible. Filters are in
  /// logarithms, as a state that all but vanishes may be the only way to the next row.
  void draw(Index n, double* log_e, const double* log_slice, Stream& stream, int* state) const;

 private:
  struct Step {
    double log_p;
    int to;
  };
  // Calls f(step) for the steps from a row that reach a level, the most probable first.
  template <class F>
  void for_steps(Index row, double level, F f) const {
    for (Index i = row * k_; i < (row + 1) * k_ && steps_[i].log_p >= level; ++i) f(steps_[i]);
  }

  Index k_;
  Vec log_rows_;
  std::vector<Step> steps_;  // (K + 1) × K, in each row from the most probable on
};

}  // namespace bnpvi::chains
