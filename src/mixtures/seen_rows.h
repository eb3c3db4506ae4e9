// The responsibilities of all rows, as a lap saw them.
#pragma once
#include "mixtures/touched_rows.h"

namespace bnpvi::mixtures {

/// For moves that choose what to change once they know how clusters share rows. Clusters are numbered as they
/// were during the lap.
class SeenRows {
 public:
  explicit SeenRows(std::size_t n_batches) : batch_(n_batches) {}

  /// What a lap has seen of a batch: rows ascending, with all their responsibilities.
  void set(Index b, TouchedRows rows);

  /// Σ of the entropy that two clusters would lose by joining (shared_entropy), K × K, symmetric.
  Vec shared(Index k) const;

  /// Rows on which these clusters have so much together, by batch. Clusters as they are now.
  std::vector<TouchedRows> on(const Target& clusters, double least) const;

  /// A cluster's present number.
  Index now(Index j) const { return now_.empty() ? j : now_[j]; }
  /// Cluster j is number[j] from now on; whatever was said before is still known by the lap's numbers.
  void renumber(const std::vector<Index>& number);
  /// These rows, as on() had them with `least`, have gone elsewhere: what was seen of them is past.
  void change(const std::vector<TouchedRows>& rows, double least);
  /// True when on() may have such rows, for the same `least`.
  bool may_have_changed(const Target& clusters) const;

 private:
  struct Seen {
    TouchedRows rows;
    std::vector<std::vector<Index>> of;  // by cluster: positions in `rows`, ascending
  };
  std::vector<Seen> batch_;
  std::vector<Index> now_;
  std::vector<bool> changed_;  // clusters that had enough of a row that has gone elsewhere
};

}  // namespace bnpvi::mixtures
