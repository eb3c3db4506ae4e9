// What learning from a stream of data knows so far, in every family of models: clusters and their statistics.
#pragma once
#include <vector>

#include "foundation/types.h"
#include "inference/learn/identity.h"

namespace bnpvi {

struct RunningState {
  Vec t;  // K × p: statistics of the observations so far; T_k0 is an integer unless statistics fade
  std::vector<ClusterIdentity> identity;
  std::uint64_t next_id = 1;
  std::uint64_t batches = 0;  // number of batches so far
  double seen = 0;            // number of units, each counted once
  double untended = 0;        // number of observations since clusters were last maintained

  virtual ~RunningState() = default;

  Index k() const { return static_cast<Index>(identity.size()); }
  Index p() const { return identity.empty() ? 0 : static_cast<Index>(t.size() / identity.size()); }
  std::vector<Index> by_size() const;  // numbers of the clusters, largest first

  /// Keeps only these clusters, in this order; all others are removed.
  virtual void keep(const std::vector<Index>& kept);
  void remove(const std::vector<bool>& gone);
  /// Adds the statistics of cluster b to those of cluster a; b keeps its number until remove() is called.
  virtual void join(Index a, Index b);
  /// Gives identities (numbers that are never reused) to new clusters, so that the first K clusters have one.
  void identify(Index k);
};

}  // namespace bnpvi
