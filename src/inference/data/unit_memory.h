// Unit memory: what a visit (update of q(z)) of a batch stores for the next visit of the same units (rows or
// groups of rows).
#pragma once
#include <memory>

#include "foundation/archive.h"
#include "inference/data/share_table.h"
#include "inference/data/support_table.h"

namespace bnpvi {

/// What a visit (update of q(z)) of a batch stores about its units for their next visit. An allocation model
/// uses the parts that it needs.
///   support: a few clusters for each row. If units are groups, the rows of unit[i] are row_start[i] ..
///     row_start[i + 1] − 1 of the table. Otherwise `unit` and `row_start` are empty, and row i is unit i
///     of the batch.
///   shares: the clusters that each unit uses, and how much of each (share_table.h).
///
/// Moves renumber clusters. A cluster born since the visit is in the support of no row yet, although rows may
/// belong to it: the next visit must compare every row with it.
struct UnitMemory {
  SupportTable support;
  ShareTable shares;
  std::vector<Index> unit, row_start;
  // Clusters 0 .. known_k − 1 existed at the visit (update of q(z)). Later ones are newborn: a birth
  // (proposal of new clusters) has added them since.
  Index known_k = 0;
  std::vector<int> born;  // for each newborn cluster, its number after renumbering; −1: it was removed
  Index visits = 1;

  /// The present numbers of the clusters born since the visit (update of q(z)), if there are now k clusters.
  std::vector<int> newborn(Index k) const;

  /// A copy of the memory with clusters renumbered: number[j] is the new number of cluster j, −1 if it was
  /// removed.
  UnitMemory renumbered(const std::vector<Index>& number) const;

  /// Writes the memory. weights = false leaves out the clusters' weights that belong to the shares, and the
  /// log-likelihoods that shares without weights store. read() then uses `weights` for what was left out.
  void write(Writer& out, bool weights = true) const;
  static UnitMemory read(Reader& in, const std::shared_ptr<const Weights>& weights = nullptr);
};

}  // namespace bnpvi
