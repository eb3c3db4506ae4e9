// What a visit of a batch leaves for the next visit of its units.
#pragma once
#include <memory>

#include "foundation/archive.h"
#include "inference/share_table.h"
#include "inference/support_table.h"

namespace bnpvi {

/// A plain value. Allocation models use what they need of it:
///   support: few clusters of each row, in the order of the rows of the batch's units. Where units are
///   groups, those
///     of unit[i] are row_start[i] .. row_start[i + 1] − 1; otherwise both are empty, and a unit is a row.
///   shares: what each unit has of which clusters.
///
/// Clusters are renumbered as they merge, go and change places. Newborn ones have mass that no visit has
/// seen.
struct UnitMemory {
  SupportTable support;
  ShareTable shares;
  std::vector<Index> unit, row_start;
  Index known_k = 0;      // clusters 0 .. known_k − 1 were there at the visit; later ones are newborn
  std::vector<int> born;  // newborn ones that were renumbered since; −1 when gone
  Index visits = 1;

  /// Clusters born since the visit, when there are k of them now.
  std::vector<int> newborn(Index k) const;

  /// The same with clusters renumbered: number[j] is the new number of cluster j, −1 when it is gone.
  UnitMemory renumbered(const std::vector<Index>& number) const;

  void write(Writer& out) const;
  static UnitMemory read(Reader& in);
};

}  // namespace bnpvi
