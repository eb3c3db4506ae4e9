// Dirichlet rows of an HMM: the distribution of the first state, and of the next state after each state.
#pragma once
#include "foundation/rounded_sum.h"
#include "foundation/types.h"

namespace bnpvi::chains {

/// Dirichlet parameters θ̂ of the start row (row 0) and K transition rows, over `width` outcomes: the K
/// states, and where the model has one, the remainder of all states not in use.
struct TransitionRows {
  Index k = 0, width = 0;
  Vec theta;  // (K + 1) × width, positive

  const double* row(Index j) const { return theta.data() + j * width; }
  /// Σ_k θ̂_jk, K + 1 numbers.
  Vec sums() const;
};

/// Σ_jk log Γ(θ̂_jk).
RoundedSum sum_of_log_gammas(const TransitionRows& rows);

/// ψ(θ̂_jk), as long as θ̂.
Vec digammas(const TransitionRows& rows);

}  // namespace bnpvi::chains
