// The responsibilities of all rows as they were during a lap (a pass over all batches).
#pragma once
#include "mixtures/touched_rows.h"

namespace bnpvi::mixtures {

/// Remembers the responsibilities of all rows during a lap (a pass over all batches). It is for moves that
/// must know how clusters share rows before they decide what to change. Clusters have the numbers that they
/// had during the lap, unless stated otherwise.
class SeenRows {
 public:
  explicit SeenRows(std::size_t n_batches) : batch_(n_batches), of_(n_batches) {}

  /// Stores the rows of batch b, ascending, with all their responsibilities.
  void set(Index b, TouchedRows rows);

  /// For each pair of clusters the entropy of q(z) that would be lost by joining them (shared_entropy),
  /// summed over rows; K × K, symmetric. Responsibilities below 1e-10 are left out: each would add at most
  /// 3e-9.
  Vec shared(Index k, Pool& pool) const;

  /// The rows of batch b, with the numbers that clusters had during the remembered lap.
  const TouchedRows& rows(Index b) const { return batch_[static_cast<std::size_t>(b)]; }
  Index n_batches() const { return static_cast<Index>(batch_.size()); }
  /// Rows of batch b on which any of these clusters has some responsibility, as positions in rows(b),
  /// ascending. Clusters are numbered as during the remembered lap.
  std::vector<Index> near(Index b, const Target& clusters) const;
  /// The rows of batch b at these positions in rows(b), with the present numbers of clusters.
  TouchedRows some(Index b, const std::vector<Index>& positions) const;

  /// The present number of the cluster that had number j during the remembered lap. Moves may have changed it
  /// since.
  Index now(Index j) const { return now_.empty() ? j : now_[j]; }
  /// Records that moves have renumbered the present clusters: cluster j is now number[j]. Numbers that
  /// clusters had during the remembered lap stay valid as arguments and in results.
  void renumber(const std::vector<Index>& number);
  /// Records that these rows of each batch have been reassigned, so the responsibilities remembered for them
  /// are outdated. least: the responsibility of some clusters together from which moves look at a row.
  void change(const std::vector<TouchedRows>& rows, double least);
  /// True if rows on which these clusters have a responsibility of at least `least` (the argument of
  /// change()) may have been reassigned since the lap.
  bool may_have_changed(const Target& clusters) const;

 private:
  std::vector<TouchedRows> batch_;
  std::vector<std::vector<std::vector<int>>> of_;  // by batch and cluster: positions of its rows, ascending
  std::vector<Index> now_;
  std::vector<bool> changed_;  // clusters with enough responsibility (`least`) for a row that was reassigned
};

}  // namespace bnpvi::mixtures
