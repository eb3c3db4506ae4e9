// Unit memory: what the visit of a batch leaves for the next visit of the same units.
#pragma once
#include <memory>

#include "foundation/archive.h"
#include "inference/data/share_table.h"
#include "inference/data/support_table.h"

namespace bnpvi {

/// A plain value, of which an allocation model uses what it needs:
///   support: a few clusters for each row. When units are groups, the rows of unit[i] are row_start[i] ..
///     row_start[i + 1] − 1 of the table; otherwise `unit` and `row_start` are empty and row i is unit i of
///     the batch.
///   shares: how much of which clusters each unit has.
///
/// Moves renumber clusters. Clusters born since the visit are in no support yet, although rows may have mass
/// on them: the next visit must compare every row with them.
struct UnitMemory {
  SupportTable support;
  ShareTable shares;
  std::vector<Index> unit, row_start;
  Index known_k = 0;      // clusters 0 .. known_k − 1 were there at the visit; later ones are newborn
  std::vector<int> born;  // present numbers of newborn clusters, once renumbered; −1 when gone
  Index visits = 1;

  /// Numbers of the clusters born since the visit, when there are k clusters now.
  std::vector<int> newborn(Index k) const;

  /// The same with clusters renumbered: number[j] is the new number of cluster j, −1 when it is gone.
  UnitMemory renumbered(const std::vector<Index>& number) const;

  /// weights: those of ShareTable::write() and read().
  void write(Writer& out, bool weights = true) const;
  static UnitMemory read(Reader& in, const std::shared_ptr<const Weights>& weights = nullptr);
};

}  // namespace bnpvi
