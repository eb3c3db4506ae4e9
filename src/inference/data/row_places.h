// The rows of a source that have a likelihood of their own, marked by one bit for each row.
#pragma once
#include "inference/data/source.h"

namespace bnpvi {

/// The rows that places_of_rows() lists, for data with so many rows that a Place for each would not fit into
/// memory.
class RowPlaces {
 public:
  /// grouped, lag: see places_of_rows().
  RowPlaces(const Source& source, bool grouped, Index lag);

  Index n() const { return n_; }
  /// places_of_rows()[p] for each of these positions p, in their order.
  std::vector<Place> at(const std::vector<Index>& positions) const;

 private:
  template <class Visit>
  void for_each_row(Visit visit) const;  // calls visit(number of the row among all rows, its place)

  const Source& source_;
  const bool grouped_;
  const Index lag_;
  std::vector<bool> has_;  // for each row of the source: whether it has a likelihood
  Index n_ = 0;
};

}  // namespace bnpvi
