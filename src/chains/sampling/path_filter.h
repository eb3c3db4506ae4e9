// Random paths (states of all rows) of a hidden Markov chain, drawn given the data by forward filtering and
// backward sampling.
#pragma once
#include <vector>

#include "foundation/random.h"
#include "foundation/types.h"

namespace bnpvi::chains {

/// A chain of K states with known transition probabilities. It draws paths (the states of all rows) given the
/// data.
class PathFilter {
 public:
  /// k: number of states. log_rows, (k + 1) × k: log probabilities of the first state (row 0), then of the
  /// next state after each state. They may be −∞, and the probabilities of a row need not sum to 1.
  PathFilter(Index k, const Vec& log_rows);

  /// Draws the states of n rows of one sequence with probability proportional to
  ///   Π_t e_t(z_t) p(z_t | z_t−1).
  /// log_e, n × K: log likelihoods log e_t of the rows in each state; may be −∞; overwritten. log_slice:
  /// null, or n lower limits for log transition probabilities [Van Gael et al. 2008]. Transitions into row t
  /// with a log probability of at least log_slice[t] then count equally; all others are impossible and cost
  /// no time. Probabilities of states given the rows so far are stored as logarithms, since a state of very
  /// small probability may be the only way to the next row. Throws std::domain_error if no path is possible.
  void draw(Index n, double* log_e, const double* log_slice, Stream& stream, int* state) const;

 private:
  struct Step {
    double log_p;
    int to;
  };
  // Calls f(step) for each step from `row` of log_rows (the start or a state) whose log probability is at
  // least `level`, in descending order of probability.
  template <class F>
  void for_steps(Index row, double level, F f) const {
    for (Index i = row * k_; i < (row + 1) * k_ && steps_[i].log_p >= level; ++i) f(steps_[i]);
  }

  Index k_;
  Vec log_rows_;
  // (K + 1) × K: the steps from the start and from each state, in descending order of probability
  std::vector<Step> steps_;
};

}  // namespace bnpvi::chains
