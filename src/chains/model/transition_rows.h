// Dirichlet distributions (rows) of a hidden Markov model: of the first state, and of the next state after
// each state.
#pragma once
#include "foundation/rounded_sum.h"
#include "foundation/types.h"

namespace bnpvi::chains {

/// Dirichlet parameters θ̂ of the start row (row 0) and the transition rows, over `width` outcomes: the K
/// states and, in an open-ended model, all states not in use together. There is one transition row for each
/// of the K states. In trees with positions of children there is one for each position p and state j, row 1 +
/// pK + j.
struct TransitionRows {
  Index k = 0, width = 0;
  Vec theta;  // n() × width, positive; 0 in cells whose probability a pattern fixes

  const double* row(Index j) const { return theta.data() + j * width; }
  Index n() const { return static_cast<Index>(theta.size()) / width; }
  /// The sum of θ̂_jk over the outcomes k, for each row j: n() numbers.
  Vec sums() const;
};

/// Σ log Γ(θ̂_jk) over all rows j and outcomes k with Dirichlet parameters θ̂_jk above 0.
RoundedSum sum_of_log_gammas(const TransitionRows& rows);

/// ψ(θ̂_jk), the digamma function, for each Dirichlet parameter in theta; without meaning where θ̂_jk = 0.
Vec digammas(const TransitionRows& rows);

}  // namespace bnpvi::chains
