// Some sequences of a data set, with a copy of their rows.
#pragma once
#include <vector>

#include "chains/moves/stretches.h"
#include "inference/data/source.h"

namespace bnpvi::chains {

/// Some sequences or trees of a data set, with a copy of their rows. Proposals that change these sequences
/// are computed from the copy.
class Sequences {
 public:
  /// numbers: the numbers of the sequences in the whole data set, ascending.
  Sequences(const Source& source, std::vector<Index> numbers);

  const std::vector<Index>& numbers() const { return numbers_; }
  const Dataset& data() const { return sample_.data; }
  /// Translates a stretch of rows from row numbers of the whole data set to row numbers of the copy.
  Stretch local(const Stretch& s) const;

 private:
  const std::vector<Index>& starts_;
  std::vector<Index> numbers_;
  Sample sample_;
};

}  // namespace bnpvi::chains
