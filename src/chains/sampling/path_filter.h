// Random paths (states of all rows) of a hidden Markov chain, drawn given the data by forward filtering and
// backward sampling.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "foundation/types.h"

namespace bnpvi::chains {

/// A chain of K states with known transition probabilities, whose paths are drawn given the data.
class PathFilter {
 public:
  /// log_rows ((K + 1) × K): log probabilities of the first state (row 0), then of the next state after each
  /// state. They need not sum to 1, and may be −∞.
  PathFilter(Index k, const Vec& log_rows);

  /// Draws the states of n rows of one sequence with probability ∝ Π_t e_t(z_t) p(z_t | z_t−1). log_e: log e,
  /// n × K; may be −∞; is overwritten. log_slice: n numbers, or null. If given, all steps into row t with a
  /// log probability of at least log_slice[t] count equally, and all others are impossible and cost nothing
  /// [Van Gael et al. 2008]. Probabilities given the rows so far are kept as logarithms: a state of very
  /// small probability may be the only way to the next row. Throws std::domain_error if no path is possible.
  void draw(Index n, double* log_e, const double* log_slice, Stream& stream, int* state) const;

 private:
  struct Step {
    double log_p;
    int to;
  };
  // Calls f(step) for all steps from `row` of log_rows (the start or a state) whose log probability is at
  // least `level`, the most probable first.
  template <class F>
  void for_steps(Index row, double level, F f) const {
    for (Index i = row * k_; i < (row + 1) * k_ && steps_[i].log_p >= level; ++i) f(steps_[i]);
  }

  Index k_;
  Vec log_rows_;
  // (K + 1) × K: all steps from the start and from each state, the most probable first
  std::vector<Step> steps_;
};

}  // namespace bnpvi::chains
