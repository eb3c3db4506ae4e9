// A table that stores a few clusters for each of many rows.
#pragma once
#include <algorithm>
#include <vector>

#include "foundation/types.h"

namespace bnpvi {

/// A table of n rows. Each has `width` slots, each with the number of one cluster, or −1 if the slot is
/// empty.
struct SupportTable {
  Index width = 0;
  std::vector<int> cluster;  // numbers of clusters, n × width

  SupportTable() = default;
  SupportTable(Index n, Index w) : width(w), cluster(static_cast<std::size_t>(n * w), -1) {}
  int* of(Index i) { return cluster.data() + i * width; }
  const int* of(Index i) const { return cluster.data() + i * width; }

  /// Renumbers clusters: j becomes number[j], −1 if it was removed. If two clusters of a row become one, the
  /// first of their slots keeps it and the other becomes empty.
  void renumber(const std::vector<Index>& number);
};

}  // namespace bnpvi
