// Counts of transitions in paths.
#pragma once
#include <vector>

#include "chains/model/sequence_rows.h"

namespace bnpvi::chains {

/// Row of the matrix of counts by origin of a transition: row 0 is the start of a sequence, row 1 + j is
/// state j.
inline Index row_after(Index state) { return 1 + state; }
constexpr Index start_row = 0;

/// n_jk: how often state k follows row j (the start, or a state). The number K of states changes during
/// sampling.
class TransitionCounts {
 public:
  Index k() const { return static_cast<Index>(rows_.size()) - 1; }
  Index operator()(Index row, Index state) const { return rows_[row][state]; }
  Index sum(Index row) const { return sums_[row]; }
  const Index* of(Index row) const { return rows_[row].data(); }  // n_jk of one row j, K numbers

  void clear();  // removes all states
  void open();   // adds a state without transitions
  /// Removes state j, which must have no transitions; state K − 1 gets its number.
  void drop(Index j);
  void add(Index row, Index state, Index times) {
    rows_[row][state] += times;
    sums_[row] += times;
  }

 private:
  std::vector<std::vector<Index>> rows_ = std::vector<std::vector<Index>>(1);  // K + 1 rows of counts
  std::vector<Index> sums_ = {0};
};

/// The transition counts n_jk of these sequences; label: the state of each row, of K states.
TransitionCounts count_transitions(const SequenceRows& rows, const std::vector<int>& label, Index k);

}  // namespace bnpvi::chains
