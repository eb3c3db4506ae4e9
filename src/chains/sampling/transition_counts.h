// Transitions of paths, counted.
#pragma once
#include <vector>

#include "chains/model/sequence_rows.h"

namespace bnpvi::chains {

/// Where the transition into a row comes from: row 0, the start, or row 1 + j of the state j before.
inline Index row_after(Index state) { return 1 + state; }
constexpr Index start_row = 0;

/// n_jk: how often state k follows row j, of K states that come and go.
class TransitionCounts {
 public:
  Index k() const { return static_cast<Index>(rows_.size()) - 1; }
  Index operator()(Index row, Index state) const { return rows_[row][state]; }
  Index sum(Index row) const { return sums_[row]; }
  const Index* of(Index row) const { return rows_[row].data(); }  // K numbers

  void clear();  // no states
  void open();   // one more, without transitions
  /// State j goes, which must have no transitions; state K − 1 gets its number.
  void drop(Index j);
  void add(Index row, Index state, Index times) {
    rows_[row][state] += times;
    sums_[row] += times;
  }

 private:
  std::vector<std::vector<Index>> rows_ = std::vector<std::vector<Index>>(1);  // K + 1
  std::vector<Index> sums_ = {0};
};

/// n_jk of the rows of sequences with these states, K of them.
TransitionCounts count_transitions(const SequenceRows& rows, const std::vector<int>& label, Index k);

}  // namespace bnpvi::chains
