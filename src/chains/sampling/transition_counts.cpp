#include "chains/sampling/transition_counts.h"

#include <utility>

namespace bnpvi::chains {

void TransitionCounts::clear() {
  rows_.assign(1, {});
  sums_.assign(1, 0);
}

void TransitionCounts::open() {
  for (std::vector<Index>& row : rows_) row.push_back(0);
  rows_.emplace_back(rows_[0].size(), Index{0});
  sums_.push_back(0);
}

void TransitionCounts::drop(Index j) {
  for (std::vector<Index>& row : rows_) {
    row[j] = row.back();
    row.pop_back();
  }
  std::swap(rows_[row_after(j)], rows_.back());
  rows_.pop_back();
  sums_[row_after(j)] = sums_.back();
  sums_.pop_back();
}

TransitionCounts count_transitions(const SequenceRows& rows, const std::vector<int>& label, Index k) {
  TransitionCounts out;
  while (out.k() < k) out.open();
  for (Index t = 0; t < rows.size(); ++t)
    out.add(rows.first[t] ? start_row : row_after(label[t - 1]), label[t], 1);
  return out;
}

}  // namespace bnpvi::chains
