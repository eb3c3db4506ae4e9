// The prior of the states of all rows, with transition probabilities integrated out, for states that are not
// exchangeable because some transitions are fixed or forbidden.
#pragma once
#include <memory>

#include "chains/model/transition_pattern.h"
#include "chains/sampling/path_prior.h"

namespace bnpvi::chains {

/// Prior for K states with a pattern of transitions (transition_pattern.h). Each transition from a state
/// either has a fixed probability (0: forbidden) or is free. The free transitions share the rest of the
/// probability by a Dirichlet distribution. The pattern may set the Dirichlet weight of a free transition
/// from state i to state j; the default is α/K + κ δ_ij, and α_0/K for the first state of a sequence.
/// Members: alpha: α; start: α_0; sticky: κ.
struct PlacePrior {
  Index k = 0;
  SampledConcentration alpha, start, sticky;
  std::shared_ptr<const TransitionPattern> pattern;

  bool allows(Index row, Index j) const { return pattern->log_constant(row, j) > -INFINITY; }
  /// The Dirichlet weight of a free transition from `row` (0: the start; 1 + i: state i) to state j.
  double mass(Index row, Index j) const;

  /// Probabilities of the next state after `row` (0: the start, 1 + i: state i) given the counts of
  /// transitions: K numbers, 0 where a transition is forbidden.
  Vec predictive(Index row, const TransitionCounts& counts) const;
  /// The log probability of the states of all rows, which depends on the counts of transitions alone, plus
  /// the log densities of learned concentrations.
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
