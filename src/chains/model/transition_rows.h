// Dirichlet rows of an HMM: the distribution of the first state, and of the next state after each state.
#pragma once
#include "foundation/rounded_sum.h"
#include "foundation/types.h"

namespace bnpvi::chains {

/// Dirichlet parameters θ̂ of the start row (row 0) and the transition rows, over `width` outcomes: the K
/// states and, if the model has it, the remainder of all states not in use. There is one transition row for
/// each of the K states, or in trees with positions for each position p and state j: row 1 + pK + j.
struct TransitionRows {
  Index k = 0, width = 0;
  Vec theta;  // n() × width, positive; 0 in cells that a pattern fixes

  const double* row(Index j) const { return theta.data() + j * width; }
  Index n() const { return static_cast<Index>(theta.size()) / width; }
  /// The sum of θ̂_jk over the outcomes k, for each row j: n() numbers.
  Vec sums() const;
};

/// Σ log Γ(θ̂_jk) over all rows and outcomes with θ̂_jk above 0.
RoundedSum sum_of_log_gammas(const TransitionRows& rows);

/// ψ(θ̂_jk) for each entry of theta; meaningless where θ̂_jk = 0.
Vec digammas(const TransitionRows& rows);

}  // namespace bnpvi::chains
