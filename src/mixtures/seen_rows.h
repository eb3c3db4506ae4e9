// The responsibilities of all rows as they were during a lap (a pass over all batches).
#pragma once
#include "mixtures/touched_rows.h"

namespace bnpvi::mixtures {

/// Remembers the responsibilities seen during a lap, for moves that decide what to change after they have
/// seen how clusters share rows. Clusters have the numbers that they had during the lap, unless stated
/// otherwise.
class SeenRows {
 public:
  explicit SeenRows(std::size_t n_batches) : batch_(n_batches) {}

  /// Stores the rows of a batch, ascending, with all their responsibilities.
  void set(Index b, TouchedRows rows);

  /// K × K, symmetric: the entropy that each pair of clusters would lose by joining (shared_entropy), summed
  /// over rows. Responsibilities below 1e-10 are left out: each would add at most 3e-9.
  Vec shared(Index k) const;

  /// For each batch, the rows on which these clusters together have a responsibility of at least `least`.
  /// The result has the present numbers of clusters.
  std::vector<TouchedRows> on(const Target& clusters, double least) const;

  /// The present number of cluster j.
  Index now(Index j) const { return now_.empty() ? j : now_[j]; }
  /// Renumbers the present clusters: cluster j becomes number[j]. Arguments and results with the numbers that
  /// clusters had during the lap are not affected.
  void renumber(const std::vector<Index>& number);
  /// Call when the rows that on() returned for this `least` have been reassigned: the responsibilities seen
  /// of them are then outdated.
  void change(const std::vector<TouchedRows>& rows, double least);
  /// True when rows that on() would return for the same `least` may have been reassigned.
  bool may_have_changed(const Target& clusters) const;

 private:
  struct Seen {
    TouchedRows rows;
    std::vector<std::vector<Index>> of;  // for each cluster: positions of its rows in `rows`, ascending
  };
  std::vector<Seen> batch_;
  std::vector<Index> now_;
  std::vector<bool> changed_;  // clusters with a relevant responsibility for a row that was reassigned
};

}  // namespace bnpvi::mixtures
