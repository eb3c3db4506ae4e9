// Known transitions of a chain whose states are not exchangeable: fixed probabilities, some of which may be
// 0.
#pragma once
#include "foundation/types.h"

namespace bnpvi {
struct Summary;
}

namespace bnpvi::chains {

/// The row of a pattern of known transitions that belongs to a row of TransitionRows. In a tree with several
/// positions of children, the transition rows of all positions share one pattern.
inline Index pattern_row(Index row, Index k) { return row == 0 ? 0 : 1 + (row - 1) % k; }

/// A pattern of known transitions among K states: the start row (row 0) and the transition rows (1 + state).
/// Each cell is free or has a fixed probability; a cell fixed at 0 is forbidden. The free cells of a row
/// divide the rest of the probability, 1 − Σ fixed, among them by a Dirichlet distribution.
class TransitionPattern {
 public:
  /// fixed ((K + 1) × K): probabilities, NaN in free cells. weight ((K + 1) × K): Dirichlet weights of free
  /// cells, NaN where a cell has the weight that it would have without a pattern.
  TransitionPattern(Index k, Vec fixed, Vec weight);

  bool is_free(Index row, Index j) const;
  bool has_zeros() const { return has_zeros_; }

  /// The Dirichlet weight of a free cell: the pattern's weight for it if there is one, otherwise `usual`, the
  /// weight that the cell would have without a pattern.
  double weight(Index row, Index j, double usual) const;

  /// The part of the log probability of a cell that does not depend on the Dirichlet distribution. For a
  /// fixed cell: the logarithm of the fixed probability (−∞ if forbidden). For a free cell: that of the total
  /// probability of the free cells of the row.
  double log_constant(Index row, Index j) const { return log_constant_[row * k_ + j]; }

  /// Sets the counts of forbidden transitions to 0. Such counts arise if state probabilities were found for
  /// each row separately.
  void leave_out_forbidden(Summary& counts) const;

  /// The log probability of transitions that the pattern fixes: Σ M_jk log_constant(j, k) over all cells that
  /// are not forbidden, with M the expected transitions in `counts`.
  double value(const Summary& counts) const;

 private:
  Index k_;
  Vec fixed_, weight_, log_constant_;
  bool has_zeros_ = false;
};

}  // namespace bnpvi::chains
