// Additive statistics: what a batch, or the whole data set, tells about each cluster.
#pragma once
#include <memory>

#include "pool.h"
#include "shared_vec.h"

namespace bnpvi {

/// Sizes of a Summary that do not change during a fit.
struct SummaryShape {
  Index p = 1;         // length of one cluster's observation statistic; entry 0 is N_k
  Index q = 0;         // further per-cluster statistics of the allocation model
  bool pairs = false;  // K × K statistics (transition counts)
  Index scalars = 1;   // entry 0 is the entropy H of q(z)
};

/// What a local step remembers of the units of its batch, so that the next visit can start from there.
class UnitMemory {
 public:
  virtual ~UnitMemory() = default;
  /// The same with clusters renumbered: number[j] is the new number of cluster j, −1 when it is gone.
  virtual std::shared_ptr<const UnitMemory> renumbered(const std::vector<Index>& number) const = 0;
  /// Different sets of weights of the observation model (K × p) that it keeps alive.
  virtual Index n_weights() const { return 0; }
};

/// New numbers of k clusters after cluster j is gone, its own −1.
std::vector<Index> numbers_without(Index k, Index j);

/// Sufficient statistics of K clusters. A plain value: every entry is a sum over observations, so
/// summaries of disjoint data add, and memoization, moves, checkpoints and remote workers need only the
/// operations below.
struct Summary {
  SummaryShape shape;
  Index k = 0;
  SharedVec obs;                             // K × p, row-major: T_k = (N_k, S_k)
  Vec extra;                                 // K × q, row-major
  Vec pair;                                  // K × K, row-major, when shape.pairs
  Vec scalar;                                // shape.scalars
  std::shared_ptr<const UnitMemory> memory;  // of a batch, where the model has one; sums have none

  Summary() = default;
  /// Of nothing; without zeros obs is left for the caller to fill.
  Summary(const SummaryShape& shape, Index k, bool zeros = true);

  double* edit_t(Index j) { return obs.edit().data() + j * shape.p; }
  const double* t(Index j) const { return obs.data() + j * shape.p; }
  double size(Index j) const { return obs[static_cast<std::size_t>(j * shape.p)]; }
  Vec sizes() const;
  double& entropy() { return scalar[0]; }
  double entropy() const { return scalar[0]; }

  // Others have the same shape and k. Every number is the same for any pool.
  void add(const Summary& other, double scale = 1);
  void exchange(const Summary& old, const Summary& fresh, Pool* pool);    // − old + fresh
  void set_to_sum(const std::vector<const Summary*>& parts, Pool* pool);  // one or more, added in order
  void scale(double c);
  void merge(Index a, Index b);  // a < b: b's statistics join a's, b goes; entropy is left alone
  void drop(Index j);            // its statistics are lost
  void append(Index m);          // m empty clusters at the end
  void permute(const std::vector<Index>& order);  // new cluster j is old cluster order[j]

 private:
  void drop_statistics(Index j);
};

}  // namespace bnpvi
