// The rows of a source that have a likelihood of their own, marked by one bit for each row.
#pragma once
#include "inference/data/source.h"

namespace bnpvi {

/// The rows that have a likelihood of their own, in the order of places_of_rows(), stored as one bit per row:
/// for data with so many rows that a Place (batch and number in it) for each would not fit into memory.
class RowPlaces {
 public:
  /// grouped: whether units are groups of rows. lag: how many first rows of each group have no likelihood.
  RowPlaces(const Source& source, bool grouped, Index lag);

  Index n() const { return n_; }
  /// The places of some of these rows, which are given by their positions in the order of places_of_rows();
  /// one for each position.
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
