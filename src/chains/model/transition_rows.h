// Dirichlet rows of an HMM: the distribution of the first state, and of the next state after each state.
#pragma once
#include "foundation/rounded_sum.h"
#include "foundation/types.h"

namespace bnpvi::chains {

/// Dirichlet parameters θ̂ of the start row (row 0) and transition rows, over `width` outcomes: the K states,
/// and where the model has one, the remainder of all states not in use. There is a transition row for each of
/// K states or, where those of trees go by the position of a child, for each position and state: row 1 + pK +
/// j.
struct TransitionRows {
  Index k = 0, width = 0;
  Vec theta;  // n() × width, positive; 0 in cells of a pattern that are not free

  const double* row(Index j) const { return theta.data() + j * width; }
  Index n() const { return static_cast<Index>(theta.size()) / width; }
  /// Σ_k θ̂_jk, n() numbers.
  Vec sums() const;
};

/// Σ_jk log Γ(θ̂_jk) of those above 0.
RoundedSum sum_of_log_gammas(const TransitionRows& rows);

/// ψ(θ̂_jk), as long as θ̂; of no use where that is 0.
Vec digammas(const TransitionRows& rows);

}  // namespace bnpvi::chains
