// Sufficient statistics of clusters, which add up over batches.
#pragma once
#include <memory>

#include "foundation/pool.h"
#include "foundation/shared_vec.h"
#include "inference/data/cluster_names.h"
#include "inference/data/unit_memory.h"

namespace bnpvi {

/// Dimensions of a Summary (sums of sufficient statistics), constant during a fit.
struct SummaryShape {
  Index p = 1;        // length of the observation statistic T_k; entry 0 is N_k
  Index q = 0;        // number of further statistics of each cluster, from the allocation model
  Index pairs = 0;    // number of statistics of each ordered pair of clusters
  Index scalars = 1;  // number of scalars; entry 0 is the entropy H of q(z)
};

/// The new numbers of k clusters after cluster j was removed: −1 for j itself, one less for the clusters
/// after it.
std::vector<Index> numbers_without(Index k, Index j);

/// Sufficient statistics of K clusters, for a batch or for all data. A plain value: every entry is a sum over
/// observations, so that the summaries of disjoint data can be added.
struct Summary {
  SummaryShape shape;
  Index k = 0;
  // K × p, row-major: T_k = (N_k, S_k), the count of a cluster and its sums of features
  SharedVec obs;
  Vec extra;            // K × q, row-major: statistics of the allocation model for each cluster
  Vec pair;             // K × K × pairs, row-major: statistics of ordered pairs of clusters
  Vec scalar;           // statistics of all clusters together, shape.scalars numbers
  double log_base = 0;  // Σ log h(x), the rows' base measures; only for whole batches (see batch_log_base)
  std::vector<int> owner;  // class that owns each cluster (class_sets.h); empty if no row has a label
  ClusterNames names;      // names of clusters; only in totals and globals, not in summaries of batches
  // what is stored for the next visit of the batch; null in summaries of all data
  std::shared_ptr<const UnitMemory> memory;
  /// True for a batch whose data are no longer available, such as the data of an earlier fit. Visits (updates
  /// of q(z)) skip it, and its statistics stay as they are.
  bool settled = false;

  Summary() = default;
  /// A summary of K clusters with all entries 0. zeros = false leaves obs uninitialised, for the caller to
  /// fill.
  Summary(const SummaryShape& shape, Index k, bool zeros = true);

  double* edit_t(Index j) { return obs.edit().data() + j * shape.p; }
  const double* t(Index j) const { return obs.data() + j * shape.p; }
  double size(Index j) const { return obs[static_cast<std::size_t>(j * shape.p)]; }
  Vec sizes() const;
  std::vector<Index> by_size() const;  // numbers of the clusters, largest first; ties in ascending order
  /// Statistic i of the ordered pair of clusters (a, b).
  double& of_pair(Index a, Index b, Index i) { return pair[(a * k + b) * shape.pairs + i]; }
  double of_pair(Index a, Index b, Index i) const { return pair[(a * k + b) * shape.pairs + i]; }
  int owner_of(Index j) const { return owner.empty() ? 0 : owner[static_cast<std::size_t>(j)]; }
  /// True if cluster j is the last one of its class, or has a name (a prior for it alone).
  bool is_last_of_class(Index j) const;
  /// True if clusters a and b may be joined. At most one of them may have a name (a prior of its own). They
  /// must also have the same owner (class), or one of them must have neither owner nor name.
  bool may_join(Index a, Index b) const;
  double& entropy() { return scalar[0]; }
  double entropy() const { return scalar[0]; }

  // Adds another summary (sums of statistics), multiplied by `scale`. Both must have the same shape, k and
  // owners (classes of the clusters). Results have the same bits with any pool or none.
  void add(const Summary& other, double scale = 1);
  void exchange(const Summary& old, const Summary& fresh, Pool* pool);  // adds fresh and subtracts old
  // sets all entries to the sum of these parts (at least one), added in order
  void set_to_sum(const std::vector<const Summary*>& parts, Pool* pool);
  void scale(double c);
  /// Adds the statistics of cluster b to those of cluster a < b, and removes b. The entropy does not change,
  /// since it is not additive. The owner (class) is that of a, or that of b if a has none.
  void merge(Index a, Index b);
  void drop(Index j);                             // removes j and its statistics
  void append(Index m, int owned_by = 0);         // adds m empty clusters at the end, owned by this class
  void permute(const std::vector<Index>& order);  // new cluster j is old cluster order[j]

  /// Writes the summary (sums of statistics) with its unit memory (what the next visit needs). weights: see
  /// UnitMemory::write() and read().
  void write(Writer& out, bool weights = true) const;
  static Summary read(Reader& in, const std::shared_ptr<const Weights>& weights = nullptr);

 private:
  void drop_statistics(Index j);
};

}  // namespace bnpvi
