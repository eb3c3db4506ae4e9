// Coarser and coarser clusterings of a fit: clusters joined pair by pair, with the exact ELBO of each.
#pragma once
#include <optional>

#include "inference/joins/joins.h"
#include "inference/learn/state.h"
#include "inference/moves/move_memory.h"

namespace bnpvi {

/// A fit whose clusters are joined. All data are visited once at its globals; from then on q(z) is explicit
/// and changes by joins only: the responsibility of a joined cluster is the sum of its parts'. The globals
/// are optimal for that q(z) after every join, and of two orders of the clusters, as they are and by size,
/// the one with the higher ELBO is kept.
///
/// Clusters go by identities, their numbers in the fit; a joined cluster has that of the part which came
/// first. Memory: 12 bytes for each cluster of each row (word, pair of rows) that belongs to several, and
/// three to five K × K tables. The problem and the pool must outlive it.
class Coarsening {
 public:
  /// earlier: as State::earlier, or empty.
  Coarsening(const Problem& problem, Globals globals, std::vector<std::shared_ptr<const UnitMemory>> earlier,
             Pool& pool);

  /// Total, globals and ELBO; `batch` is as it was visited, before any join.
  const State& state() const { return state_; }
  Index id(Index j) const { return static_cast<Index>(memory_.id(j)); }
  Index number(Index id) const { return memory_.number_of(static_cast<std::uint64_t>(id)); }

  /// Joins two clusters that may be joined; returns the identity that is left.
  Index join(Index a, Index b);

  /// The pair to join next: the one with the highest ELBO among the `finalists` pairs that rank highest; none
  /// where no two clusters may be joined (Summary::may_join). Ranks are exact in data term and entropy, and
  /// have the allocation terms as they were (nearly) when both clusters of a pair came to be. With more than
  /// 2^7 clusters pairs are near ones only (evidence_of_merging).
  std::optional<std::pair<Index, Index>> best_pair();

 private:
  struct Pair {
    Index a, b;  // numbers, a < b
    double gain;
  };
  void add_changes();
  void settle_globals();
  void compare();
  double data_gain(Index a, Index b) const;
  double allocation_gain(const Globals& now, Index a, Index b) const;
  Summary joined_allocation(Index a, Index b) const;
  double best_value(Summary s) const;
  /// Of two numbers, in the tables by identity.
  std::size_t at(Index a, Index b) const { return static_cast<std::size_t>(id(a) * k_ + id(b)); }

  const Problem& problem_;
  Pool& pool_;
  State state_;
  const Index k_;  // of the fit
  MoveMemory memory_;
  JoinParts parts_;
  JoinChanges changes_;
  Vec data_, allocation_;      // K × K by identity: gains of joining; −∞: far apart, NaN: not known
  bool all_compared_ = false;  // no pair is far apart
};

/// A join, and the ELBO after it.
struct Join {
  Index a, b;  // identities; a is left
  double elbo;
};

/// Joins the best pair until one cluster is left, or one for each class.
std::vector<Join> join_all(Coarsening& clusters);

}  // namespace bnpvi
