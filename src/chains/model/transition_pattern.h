// What is known of the transitions of a chain whose states have places: which are fixed, which cannot be.
#pragma once
#include "foundation/types.h"

namespace bnpvi {
struct Summary;
}

namespace bnpvi::chains {

/// The row of a pattern for a row of TransitionRows: positions of trees have one pattern.
inline Index pattern_row(Index row, Index k) { return row == 0 ? 0 : 1 + (row - 1) % k; }

/// The start row (row 0) and the transition rows (1 + state) of K states. A cell is free, or has a fixed
/// probability; one that is fixed at 0 is forbidden. The free cells of a row share what the fixed ones leave
/// of 1 by a Dirichlet distribution.
class TransitionPattern {
 public:
  /// fixed ((K + 1) × K): probabilities, NaN in free cells. weight: Dirichlet weights of free cells, NaN
  /// where they are those of a chain without pattern.
  TransitionPattern(Index k, Vec fixed, Vec weight);

  bool is_free(Index row, Index j) const;
  bool has_zeros() const { return has_zeros_; }

  /// The Dirichlet weight of a free cell, `usual` where it has none of its own.
  double weight(Index row, Index j, double usual) const;

  /// The logarithm of what a cell adds whatever the free cells of its row share by: that of its fixed
  /// probability, −∞ where it is forbidden, or of the share that the free cells have together.
  double log_constant(Index row, Index j) const { return log_constant_[row * k_ + j]; }

  /// Forbidden transitions among those that were counted are left out, as of responsibilities of rows that do
  /// not know of each other.
  void leave_out_forbidden(Summary& counts) const;

  /// Σ M_jk log_constant(j, k) over all cells that are not forbidden.
  double value(const Summary& counts) const;

 private:
  Index k_;
  Vec fixed_, weight_, log_constant_;
  bool has_zeros_ = false;
};

}  // namespace bnpvi::chains
