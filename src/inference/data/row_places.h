// The rows of a source that have a likelihood of their own, numbered, in a bit each.
#pragma once
#include "inference/data/source.h"

namespace bnpvi {

/// What places_of_rows() numbers, for data of which a Place for each row would not fit into memory.
class RowPlaces {
 public:
  /// grouped, lag: as of places_of_rows().
  RowPlaces(const Source& source, bool grouped, Index lag);

  Index n() const { return n_; }
  /// places_of_rows()[p] of each of these positions, in their order.
  std::vector<Place> at(const std::vector<Index>& positions) const;

 private:
  template <class Visit>
  void for_each_row(Visit visit) const;  // visit(number among all, place)

  const Source& source_;
  const bool grouped_;
  const Index lag_;
  std::vector<bool> has_;  // of all rows
  Index n_ = 0;
};

}  // namespace bnpvi
