// A single partition that summarises many drawn ones: it has the least expected loss.
#pragma once
#include "foundation/pool.h"
#include "foundation/random.h"
#include "foundation/types.h"

namespace bnpvi {

/// The loss of replacing one partition of n rows by another. n_a and n_b are the sizes of the clusters of the
/// two partitions; n_ab is the number of rows that are in cluster a of the first and in cluster b of the
/// second. Both kinds of loss have the form
///   Σ_a f(n_a) + Σ_b f(n_b) − 2 Σ_ab f(n_ab)
/// with
///   binder     f(x) = x²/2: the number of pairs of rows that are together in only one of the partitions
///              [Binder 1978];
///   variation  f(x) = x log x / n: the variation of information, in nats [Meila 2007].
enum class PartitionLoss { binder, variation };

/// A list of M partitions of n rows: the labels of partition m, 0 .. K_m − 1, begin at label[m · n].
struct Partitions {
  Index n = 0;
  std::vector<int> label;
  std::vector<Index> k;  // number of clusters of each partition, K_m
  Index size() const { return static_cast<Index>(k.size()); }
};

/// The loss of one partition relative to each of the M drawn partitions: M numbers. label: the clusters of
/// the rows, 0 .. K − 1.
Vec losses(const Partitions& draws, const std::vector<int>& label, PartitionLoss loss);

struct PointPartition {
  std::vector<int> label;  // cluster of each row, 0 .. K − 1
  double loss = 0;         // mean loss over the draws
};

/// Searches for a partition with the least mean loss over the draws, from each of `starts` (at least one) in
/// parallel. Rows move one at a time, in random order, to the cluster with the least mean loss, until no move
/// lowers the loss. Then each cluster in turn is emptied and its rows are allocated anew; the result is kept
/// if its loss is lower. With more than 2,000 rows this second step is made only for the best result. The
/// partition has at most `most` clusters. It is a local optimum, is never worse than a start, and depends
/// only on the seed.
PointPartition search_partition(const Partitions& draws, const std::vector<std::vector<int>>& starts,
                                PartitionLoss loss, Index most, std::uint64_t seed, Pool& pool);

}  // namespace bnpvi
