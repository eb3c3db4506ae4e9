// Clusters of a sampler: rows come and go one at a time.
#pragma once
#include "observations/capabilities.h"

namespace bnpvi {

/// K urns of an observation model, numbered 0 .. K − 1, each with at least one row, and urn K, which has
/// none: when a row is added to it there are K + 1, and a new urn without rows.
class Urns {
 public:
  explicit Urns(const ObsModel& obs);

  Index k() const { return static_cast<Index>(count_.size()); }
  Index count(Index j) const { return count_[j]; }  // rows
  const std::vector<Index>& counts() const { return count_; }

  void add(Index j, const double* phi, double mass = 1);  // a row with features phi (p), j ≤ K: T += mass φ
  /// True when urn j has no row left and did not begin with any; it must be dropped then, or get one, before
  /// anything else.
  bool remove(Index j, const double* phi, double mass = 1);
  /// Takes back the last removal, to the bit, if no urn has changed since.
  void put_back();
  /// Removes urn j with its rows; urn K − 1 gets its number.
  void drop(Index j);
  /// Moves the rows of urn b to urn a and removes b; urn K − 1 gets its number.
  void join(Index a, Index b);
  /// Urn j ≤ K becomes urn i of others.
  void replace(Index j, const Urns& others, Index i);
  void clear();

  /// Urns 0 .. j are among the K from now on, though they have no rows yet.
  void open(Index j);
  /// As add(), but the urns are incomplete until fill() is called; before it only gather() may be called.
  void gather(Index j, const double* phi);
  void fill();

  /// Clears, and begins with k urns that hold the statistics t (k × p) of earlier rows. These urns stay when
  /// all rows added later were removed; count() counts the latter only.
  void begin_with(const double* t, Index k);
  /// T_0 of urn j, 0 of urn K: its rows and those that it began with.
  double size(Index j) const { return urn(j)[0]; }

  /// log p(x | urn) − log h(x) of one row under the first k ≤ K + 1 urns.
  void predictives(const double* phi, Index k, double* out) const;
  /// The same for urn j without this row, which is in the urn with this mass. Safe in threads.
  double predictive_without(Index j, const double* phi, double mass) const;
  /// Λ(T_j), and Λ(T_a + T_b).
  double log_evidence(Index j) const;
  double log_evidence(Index a, Index b) const;

 private:
  double* urn(Index j) { return urns_.data() + j * size_; }
  const double* urn(Index j) const { return urns_.data() + j * size_; }
  void change(double* urn, const double* phi, double mass) const;  // of an urn's T and what follows from it

  const ObsModel& obs_;
  std::shared_ptr<const Urn> rule_;
  Index size_;
  Vec empty_;  // an urn without rows
  Vec urns_;   // (K + 1) × size
  std::vector<Index> count_;
  Index n_begun_ = 0;   // urns that began with earlier rows, the first ones
  Vec removed_from_;    // an urn before the last removal
  Index removed_ = -1;  // its number
};

}  // namespace bnpvi
