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
  /// The Dirichlet weight of the free cell for transitions from `row` to state j.
  double mass(Index row, Index j) const;

  /// Probabilities of the next state after `row` given the counts, K numbers: 0 where it is forbidden.
  Vec predictive(Index row, const TransitionCounts& counts) const;
  /// log p(states of all rows), plus the log densities of learned concentrations.
  double log_probability(const TransitionCounts& counts) const;

  /// Draws the concentrations that are learned.
  void draw(const TransitionCounts& counts, Stream& stream);
  /// Draws logarithms of the transition probabilities given the counts, (K + 1) × K, −∞ where forbidden.
  Vec draw_rows(const TransitionCounts& counts, Stream& stream) const;

 private:
  double log_of_rows(const TransitionCounts& counts) const;
};

}  // namespace bnpvi::chains
