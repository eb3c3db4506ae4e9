// Known labels: the classes to which rows may belong.
#pragma once
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// Sets of classes, for rows with known labels. Classes and sets are numbered from 1. A class may own
/// clusters: only rows whose label includes the class may belong to these. Owner 0 marks a cluster that no
/// class owns. Set 0 marks a row that may belong to any cluster.
struct ClassSets {
  Index n_classes = 0;
  /// A table of sets × (classes + 1), row-major: whether the set contains the class. Column 0: whether rows
  /// of the set may belong to clusters that no class owns.
  std::vector<char> has;

  /// True if a row with this set of classes may belong to a cluster of the class `owner`.
  bool allows(int set, int owner) const {
    return set == 0 || has[static_cast<std::size_t>((set - 1) * (n_classes + 1) + owner)];
  }
  Index n_sets() const { return static_cast<Index>(has.size()) / (n_classes + 1); }
};

}  // namespace bnpvi
