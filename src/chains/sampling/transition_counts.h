// Counts of transitions between states in the paths of a sampler.
#pragma once
#include <vector>

#include "chains/model/sequence_rows.h"

namespace bnpvi::chains {

/// The row of a table of transition counts that has the transitions out of this state: 1 + state. Row 0 has
/// the first states of sequences; it belongs to state = −1.
inline Index row_after(Index state) { return 1 + state; }
constexpr Index start_row = 0;

/// Counts n_jk of transitions: how often state k follows in row j of the table. Row 0: k is the first state
/// of a sequence; row 1 + i: k follows state i. States can be added and removed during sampling.
class TransitionCounts {
 public:
  Index k() const { return static_cast<Index>(rows_.size()) - 1; }
  Index operator()(Index row, Index state) const { return rows_[row][state]; }
  Index sum(Index row) const { return sums_[row]; }
  // counts n_jk of transitions from row j = `row`, K numbers
  const Index* of(Index row) const { return rows_[row].data(); }

  void clear();  // removes all states and counts
  void open();   // adds a state without transitions
  /// Removes state j, which must have no transitions; state K − 1 gets the number j.
  void drop(Index j);
  void add(Index row, Index state, Index times) {
    rows_[row][state] += times;
    sums_[row] += times;
  }

 private:
  // K + 1 rows of counts: starts, then transitions from each state
  std::vector<std::vector<Index>> rows_ = std::vector<std::vector<Index>>(1);
  std::vector<Index> sums_ = {0};
};

/// Counts the transitions in these sequences. label: the state of each row, one of K states.
TransitionCounts count_transitions(const SequenceRows& rows, const std::vector<int>& label, Index k);

}  // namespace bnpvi::chains
