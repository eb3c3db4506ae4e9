// Known labels: the classes to which rows may belong.
#pragma once
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// Sets of classes. A class owns clusters; classes, and sets, are numbered from 1. Owner 0: a cluster of no
/// class; set 0: of a row that may belong to any cluster.
struct ClassSets {
  Index n_classes = 0;
  std::vector<char> has;  // sets × (classes + 1): the first column says of clusters of no class

  /// True when a row of this set may belong to a cluster of this owner.
  bool allows(int set, int owner) const {
    return set == 0 || has[static_cast<std::size_t>((set - 1) * (n_classes + 1) + owner)];
  }
  Index n_sets() const { return static_cast<Index>(has.size()) / (n_classes + 1); }
};

}  // namespace bnpvi
