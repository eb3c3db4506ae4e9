// Some sequences, with a copy of their rows.
#pragma once
#include <vector>

#include "chains/moves/stretches.h"
#include "inference/data/source.h"

namespace bnpvi::chains {

/// Some sequences or trees, and a copy of their rows for all that is tried with them.
class Sequences {
 public:
  /// numbers: among all, ascending.
  Sequences(const Source& source, std::vector<Index> numbers);

  const std::vector<Index>& numbers() const { return numbers_; }
  const Dataset& data() const { return sample_.data; }
  /// The same stretch by the row numbers of the copy.
  Stretch local(const Stretch& s) const;

 private:
  const std::vector<Index>& starts_;
  std::vector<Index> numbers_;
  Sample sample_;
};

}  // namespace bnpvi::chains
