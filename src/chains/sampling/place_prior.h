// The prior of the states of all rows where states have places, transition probabilities integrated out.
#pragma once
#include <memory>

#include "chains/model/transition_pattern.h"
#include "chains/sampling/path_prior.h"

namespace bnpvi::chains {

/// Of K states that are not alike: a cell of a row has a fixed probability, or shares by a Dirichlet
/// distribution what those leave (transition_pattern.h). Free cells without weights of their own have those
/// of the concentrations, α/K + κδ, and α_0/K in the start row.
struct PlacePrior {
  Index k = 0;
  SampledConcentration alpha, start, sticky;
  std::shared_ptr<const TransitionPattern> pattern;

  bool allows(Index row, Index j) const { return pattern->log_constant(row, j) > -INFINITY; }
  /// Dirichlet weight of a free cell.
  double mass(Index row, Index j) const;

  /// Probabilities of the next state given the counts, K numbers: 0 where it is forbidden.
  Vec predictive(Index row, const TransitionCounts& counts) const;
  /// log p(states of all rows), and the densities of learned concentrations.
  double log_probability(const TransitionCounts& counts) const;

  /// Draws the concentrations that are learned.
  void draw(const TransitionCounts& counts, Stream& stream);
  /// Draws logarithms of the transition probabilities given the counts, (K + 1) × K, −∞ where forbidden.
  Vec draw_rows(const TransitionCounts& counts, Stream& stream) const;

 private:
  double log_of_rows(const TransitionCounts& counts) const;
};

}  // namespace bnpvi::chains
