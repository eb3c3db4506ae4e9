// Sufficient statistics of clusters, which add up over batches.
#pragma once
#include <memory>

#include "foundation/pool.h"
#include "foundation/shared_vec.h"
#include "inference/unit_memory.h"

namespace bnpvi {

/// Sizes of a Summary that do not change during a fit.
struct SummaryShape {
  Index p = 1;        // length of one cluster's observation statistic; entry 0 is N_k
  Index q = 0;        // further per-cluster statistics of the allocation model
  Index pairs = 0;    // statistics of each ordered pair of clusters
  Index scalars = 1;  // entry 0 is the entropy H of q(z)
};

/// Numbers of k clusters after cluster j was removed; −1 for j itself.
std::vector<Index> numbers_without(Index k, Index j);

/// Sufficient statistics of K clusters, of a batch or of all data. A plain value: every entry is a sum over
/// observations, so that summaries of disjoint data add up.
struct Summary {
  SummaryShape shape;
  Index k = 0;
  SharedVec obs;                             // K × p, row-major: T_k = (N_k, S_k)
  Vec extra;                                 // K × q, row-major
  Vec pair;                                  // K × K × pairs, row-major
  Vec scalar;                                // shape.scalars
  double log_base = 0;                       // Σ log h(x) of the rows of whole batches (see batch_log_base)
  std::shared_ptr<const UnitMemory> memory;  // of a batch, if the model has one; null in sums

  Summary() = default;
  /// All entries 0; zeros = false leaves obs uninitialised, for the caller to fill.
  Summary(const SummaryShape& shape, Index k, bool zeros = true);

  double* edit_t(Index j) { return obs.edit().data() + j * shape.p; }
  const double* t(Index j) const { return obs.data() + j * shape.p; }
  double size(Index j) const { return obs[static_cast<std::size_t>(j * shape.p)]; }
  Vec sizes() const;
  std::vector<Index> by_size() const;  // numbers of the clusters, largest first; ties in ascending order
  double& entropy() { return scalar[0]; }
  double entropy() const { return scalar[0]; }

  // Summaries that are combined have the same shape and k. Results have the same bits with any pool or none.
  void add(const Summary& other, double scale = 1);
  void exchange(const Summary& old, const Summary& fresh, Pool* pool);    // − old + fresh
  void set_to_sum(const std::vector<const Summary*>& parts, Pool* pool);  // one or more, added in order
  void scale(double c);
  void merge(Index a, Index b);  // a < b: adds b to a and removes b; the entropy, not additive, is unchanged
  void drop(Index j);            // removes j and its statistics
  void append(Index m);          // m empty clusters at the end
  void permute(const std::vector<Index>& order);  // new cluster j is old cluster order[j]

  void write(Writer& out) const;  // with the memory
  static Summary read(Reader& in);

 private:
  void drop_statistics(Index j);
};

}  // namespace bnpvi
