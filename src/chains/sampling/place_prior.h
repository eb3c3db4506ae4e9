// The prior of the states of all rows, with transition probabilities integrated out, for states that are not
// exchangeable because some transitions are fixed or forbidden.
#pragma once
#include <memory>

#include "chains/model/transition_pattern.h"
#include "chains/sampling/path_prior.h"

namespace bnpvi::chains {

/// Prior for K states with a pattern of transitions (transition_pattern.h): each cell of a row has a fixed
/// probability, or is free, and the free cells divide the rest by a Dirichlet distribution. A free cell
/// without a weight of its own has the usual one, α/K + κδ, or α_0/K in the start row.
struct PlacePrior {
  Index k = 0;
  SampledConcentration alpha, start, sticky;
  std::shared_ptr<const TransitionPattern> pattern;

  bool allows(Index row, Index j) const { return pattern->log_constant(row, j) > -INFINITY; }
  /// The Dirichlet weight of the free cell for transitions to state j, from `row` (0: the start, 1 + i: state
  /// i).
  double mass(Index row, Index j) const;

  /// Probabilities of the next state after `row` (0: the start, 1 + i: state i) given the counts of
  /// transitions: K numbers, 0 where a transition is forbidden.
  Vec predictive(Index row, const TransitionCounts& counts) const;
  /// log p(states of all rows) given by these counts of transitions, plus the log densities of learned
  /// concentrations.
  double log_probability(const TransitionCounts& counts) const;

  /// Draws the concentrations that are learned, given the counts of transitions.
  void draw(const TransitionCounts& counts, Stream& stream);
  /// Draws transition probabilities given the counts of transitions and returns their logarithms, (K + 1) ×
  /// K, −∞ where a transition is forbidden.
  Vec draw_rows(const TransitionCounts& counts, Stream& stream) const;

 private:
  double log_of_rows(const TransitionCounts& counts) const;
};

}  // namespace bnpvi::chains
