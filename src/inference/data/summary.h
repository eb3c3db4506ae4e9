// Sufficient statistics of clusters, which add up over batches.
#pragma once
#include <memory>

#include "foundation/pool.h"
#include "foundation/shared_vec.h"
#include "inference/data/cluster_names.h"
#include "inference/data/unit_memory.h"

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
  SharedVec obs;           // K × p, row-major: T_k = (N_k, S_k)
  Vec extra;               // K × q, row-major
  Vec pair;                // K × K × pairs, row-major
  Vec scalar;              // shape.scalars
  double log_base = 0;     // Σ log h(x) of the rows of whole batches (see batch_log_base)
  std::vector<int> owner;  // class that owns each cluster (class_sets.h); empty where no row has a label
  ClusterNames names;      // of totals and globals; summaries of batches have none
  std::shared_ptr<const UnitMemory> memory;  // of a batch, if the model has one; null in sums
  bool settled = false;  // of a batch: its data are no longer at hand, so that visits leave it as it is

  Summary() = default;
  /// All entries 0; zeros = false leaves obs uninitialised, for the caller to fill.
  Summary(const SummaryShape& shape, Index k, bool zeros = true);

  double* edit_t(Index j) { return obs.edit().data() + j * shape.p; }
  const double* t(Index j) const { return obs.data() + j * shape.p; }
  double size(Index j) const { return obs[static_cast<std::size_t>(j * shape.p)]; }
  Vec sizes() const;
  std::vector<Index> by_size() const;  // numbers of the clusters, largest first; ties in ascending order
  /// Statistic i of the pair (a, b).
  double& of_pair(Index a, Index b, Index i) { return pair[(a * k + b) * shape.pairs + i]; }
  double of_pair(Index a, Index b, Index i) const { return pair[(a * k + b) * shape.pairs + i]; }
  int owner_of(Index j) const { return owner.empty() ? 0 : owner[static_cast<std::size_t>(j)]; }
  /// True when a class or a name would be left without a cluster if j went.
  bool is_last_of_class(Index j) const;
  /// True when a and b may be joined: both have one owner, or one of them has none; and not both have names.
  bool may_join(Index a, Index b) const;
  double& entropy() { return scalar[0]; }
  double entropy() const { return scalar[0]; }

  // Summaries that are combined have the same shape, k and owners. Results have the same bits with any pool
  // or none.
  void add(const Summary& other, double scale = 1);
  void exchange(const Summary& old, const Summary& fresh, Pool* pool);    // − old + fresh
  void set_to_sum(const std::vector<const Summary*>& parts, Pool* pool);  // one or more, added in order
  void scale(double c);
  void merge(Index a, Index b);  // a < b: adds b to a and removes b; the entropy, not additive, is unchanged,
                                 // and the owner is that of a, or of b where a has none
  void drop(Index j);            // removes j and its statistics
  void append(Index m, int owned_by = 0);         // m empty clusters at the end
  void permute(const std::vector<Index>& order);  // new cluster j is old cluster order[j]

  /// With the memory; weights: as UnitMemory::write() and read() have them.
  void write(Writer& out, bool weights = true) const;
  static Summary read(Reader& in, const std::shared_ptr<const Weights>& weights = nullptr);

 private:
  void drop_statistics(Index j);
};

}  // namespace bnpvi
