// Successive coarsening of a fit: clusters are joined pair by pair, and the exact ELBO is computed after each
// join.
#pragma once
#include <optional>

#include "inference/joins/joins.h"
#include "inference/learn/state.h"
#include "inference/moves/move_memory.h"

namespace bnpvi {

/// A fit whose clusters are joined one pair after the other. All data are visited once at the fit's globals
/// (posterior of the parameters). From then on q(z) is explicit and changes only by joins: the responsibility
/// of a joined cluster is the sum of those of its parts. After every join the globals are optimal for q(z).
/// Two orders of the clusters are compared, the present one and the one by size; the order with the higher
/// ELBO is kept.
///
/// The identity of a cluster is its number in the fit. A joined cluster has the identity of its first part.
/// Memory: 12 bytes for each cluster of each row (or word, or pair of rows) that belongs to several clusters,
/// and three to five K × K tables. The problem and the pool must outlive this object.
class Coarsening {
 public:
  /// globals: those of the fit. earlier: for each batch what an earlier fit stored about its units
  /// (State::earlier); may be empty.
  Coarsening(const Problem& problem, Globals globals, std::vector<std::shared_ptr<const UnitMemory>> earlier,
             Pool& pool);

  /// The state after the joins so far. Only its total statistics, parameters (globals) and ELBO are current;
  /// `batch` holds the batches as they were before any join.
  const State& state() const { return state_; }
  Index id(Index j) const { return static_cast<Index>(memory_.id(j)); }
  Index number(Index id) const { return memory_.number_of(static_cast<std::uint64_t>(id)); }

  /// Joins two clusters, given by identity (number in the fit), that may be joined. Returns the identity of
  /// the joined cluster.
  Index join(Index a, Index b);

  /// The identities of the pair to join next. Pairs are ranked by the gain from joining them. Of the
  /// `finalists` pairs with the highest ranks, the one with the highest ELBO after joining is returned. There
  /// is none if no two clusters may be joined (Summary::may_join).
  ///
  /// In the ranks, changes of the data term and of the entropy are exact. Changes of the allocation terms may
  /// be slightly out of date: they were computed when the younger cluster of the pair was formed. With more
  /// than 2^7 clusters only pairs of clusters near each other are ranked (evidence_of_merging).
  std::optional<std::pair<Index, Index>> best_pair();

 private:
  struct Pair {
    Index a, b;  // present numbers of two clusters, a < b
    double gain;
  };
  void add_changes();
  void settle_globals();
  void compare();
  double data_gain(Index a, Index b) const;
  double allocation_gain(const Globals& now, Index a, Index b) const;
  Summary joined_allocation(Index a, Index b) const;
  double best_value(Summary s) const;
  /// Index of a pair of clusters in data_ and allocation_, which are K × K with clusters ordered by identity
  /// (number in the fit). a, b: their present numbers.
  std::size_t at(Index a, Index b) const { return static_cast<std::size_t>(id(a) * k_ + id(b)); }

  const Problem& problem_;
  Pool& pool_;
  State state_;
  const Index k_;  // number of clusters of the fit
  MoveMemory memory_;
  JoinParts parts_;
  JoinChanges changes_;
  // K × K by identity: gains of joining two clusters; −∞: they are far apart, NaN: not computed
  Vec data_, allocation_;
  bool all_compared_ = false;  // true: pairs are no longer restricted to clusters near each other
};

/// One join of two clusters, and the ELBO after it.
struct Join {
  Index a, b;  // identities (numbers in the fit); the joined cluster has identity a
  double elbo;
};

/// Joins the best pair until one cluster is left, or one for each class.
std::vector<Join> join_all(Coarsening& clusters);

}  // namespace bnpvi
