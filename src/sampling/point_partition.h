// The partition with the least expected loss, over draws of partitions.
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "foundation/types.h"

namespace bnpvi {

/// Distance of two partitions of n rows. Both are Σ_a f(n_a) + Σ_b f(n_b) − 2 Σ_ab f(n_ab), n_ab the rows in
/// cluster a of the one and b of the other:
///   binder     f(x) = x²/2: the number of pairs of rows that are together in one of the two only [Binder
///   1978]; variation  f(x) = x log x / n: the variation of information, in nats [Meila 2007].
enum class PartitionLoss { binder, variation };

/// M partitions of n rows: labels 0 .. K_m − 1 of partition m at label[m · n].
struct Partitions {
  Index n = 0;
  std::vector<int> label;
  std::vector<Index> k;  // K_m
  Index size() const { return static_cast<Index>(k.size()); }
};

/// Loss of one partition (labels 0 .. K − 1) against each of the draws, M numbers.
Vec losses(const Partitions& draws, const std::vector<int>& label, PartitionLoss loss);

struct PointPartition {
  std::vector<int> label;  // 0 .. K − 1
  double loss = 0;         // its mean over the draws
};

/// From each start (at least one), rows move one at a time to where the mean loss is least, in random order,
/// until no move lowers it. Then each cluster in turn is emptied and its rows allocated anew, which is kept
/// if it ends lower: of many rows only from the best end. At most `most` clusters. A local optimum, never
/// above a start. Starts are searched from in threads; the result depends on the seed alone.
PointPartition search_partition(const Partitions& draws, const std::vector<std::vector<int>>& starts,
                                PartitionLoss loss, Index most, std::uint64_t seed, Pool& pool);

}  // namespace bnpvi
