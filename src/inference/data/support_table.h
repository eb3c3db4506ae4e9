// A table of a few clusters for each of many rows.
#pragma once
#include <algorithm>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// `width` slots of cluster numbers for each of n rows; −1: none.
struct SupportTable {
  Index width = 0;
  std::vector<int> cluster;  // n × width

  SupportTable() = default;
  SupportTable(Index n, Index w) : width(w), cluster(static_cast<std::size_t>(n * w), -1) {}
  int* of(Index i) { return cluster.data() + i * width; }
  const int* of(Index i) const { return cluster.data() + i * width; }

  /// Renumbers clusters: j becomes number[j], −1 when it is gone. When two clusters of a row become one, the
  /// first keeps its slot and the other slot becomes −1.
  void renumber(const std::vector<Index>& number);
};

}  // namespace bnpvi
