// The rows of a source that have a likelihood of their own, marked by one bit for each row.
#pragma once
#include "inference/data/source.h"

namespace bnpvi {

/// The rows of a source that have a likelihood, in the order of places_of_rows(). One bit is stored for each
/// row of the source. It is for sources with so many rows that one Place (batch and number in it) for each
/// would not fit into memory.
class RowPlaces {
 public:
  /// grouped: whether units are groups of rows. lag: number of first rows of each group that have no
  /// likelihood.
  RowPlaces(const Source& source, bool grouped, Index lag);

  Index n() const { return n_; }
  /// The places (batch and number in it) of some of these rows. positions: their positions in the order of
  /// places_of_rows().
  std::vector<Place> at(const std::vector<Index>& positions) const;

 private:
  template <class Visit>
  // calls visit(number, place) for each of these rows; number: its number among all rows of the source
  void for_each_row(Visit visit) const;

  const Source& source_;
  const bool grouped_;
  const Index lag_;
  std::vector<bool> has_;  // for each row of the source: whether it has a likelihood
  Index n_ = 0;
};

}  // namespace bnpvi
