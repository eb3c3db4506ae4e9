// Partitions of rows into clusters, given as the number of the cluster (label) of each row.
#pragma once
#include <algorithm>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// The number K of clusters if labels are 0 .. K − 1; 0 if there are no rows.
inline Index number_of_clusters(const std::vector<int>& label) {
  return label.empty() ? 0 : 1 + *std::max_element(label.begin(), label.end());
}

}  // namespace bnpvi
