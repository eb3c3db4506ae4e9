// Clusters of a sampler, to which rows are added and from which they are removed one at a time.
#pragma once
#include "observations/capabilities.h"

namespace bnpvi {

/// K urns, the clusters of a sampler, numbered 0 .. K − 1, each with at least one row, and an empty urn K.
/// When a row is added to urn K, there are K + 1 urns with rows, and a new empty one.
class Urns {
 public:
  explicit Urns(const ObsModel& obs);

  Index k() const { return static_cast<Index>(count_.size()); }
  Index count(Index j) const { return count_[j]; }  // number of rows
  const std::vector<Index>& counts() const { return count_; }

  void add(Index j, const double* phi, double mass = 1);  // T_j += mass φ, a row with features phi (p); j ≤ K
  /// Removes a row with features phi from urn j (a cluster of the sampler). Returns true if the urn is then
  /// empty and did not begin with earlier rows. In this case it must be dropped, or get another row, before
  /// any other call.
  bool remove(Index j, const double* phi, double mass = 1);
  /// Undoes the last remove() exactly. No urn may have changed since.
  void put_back();
  /// Removes urn j (a cluster) with its rows; the last urn with rows, K − 1, gets its number.
  void drop(Index j);
  /// Moves the rows of urn (cluster) b to urn a and removes b; the last urn with rows, K − 1, gets its
  /// number.
  void join(Index a, Index b);
  /// Replaces urn j ≤ K (a cluster of the sampler) by a copy of urn i of another object, `others`.
  void replace(Index j, const Urns& others, Index i);
  void clear();

  /// Makes urns 0 .. j (clusters of the sampler) count among the K urns with rows, although they have no rows
  /// yet.
  void open(Index j);
  /// Adds a row with features phi to urn j (a cluster), as add() does. The urns are incomplete until fill()
  /// is called; before that only gather() may be called.
  void gather(Index j, const double* phi);
  void fill();

  /// Removes all urns (clusters), and begins with k urns that hold the statistics t (k × p) of earlier rows.
  /// These urns stay when all rows added later have been removed; count() counts only the rows added later.
  void begin_with(const double* t, Index k);
  /// The number (mass) of rows in urn j (a cluster), including the rows that it began with; 0 for the empty
  /// urn K.
  double size(Index j) const { return urn(j)[0]; }

  /// Writes log p(x | urn j) − log h(x) of a row x with features phi, for the first k ≤ K + 1 urns (clusters;
  /// the last is empty); h is the base measure.
  void predictives(const double* phi, Index k, double* out) const;
  /// log p(x | urn j) − log h(x) of a row x with features phi; urn j ≤ K is a cluster of the sampler.
  double predictive(Index j, const double* phi) const;
  /// log p(x | urn j without x) − log h(x) of a row x with features phi, which is in urn j (a cluster) with
  /// this mass; h is the base measure. Safe to call from several threads.
  double predictive_without(Index j, const double* phi, double mass) const;
  /// The log evidence of urn j (a cluster); below: of the rows of urns a and b together.
  double log_evidence(Index j) const;
  double log_evidence(Index a, Index b) const;

 private:
  double* urn(Index j) { return urns_.data() + j * size_; }
  const double* urn(Index j) const { return urns_.data() + j * size_; }
  /// Adds mass φ, the features of a row times `mass`, to the statistic T of an urn (cluster), and updates the
  /// values that are computed from T.
  void change(double* urn, const double* phi, double mass) const;

  const ObsModel& obs_;
  std::shared_ptr<const Urn> rule_;
  Index size_;
  Vec empty_;  // the values of an urn without rows
  Vec urns_;   // values of the K + 1 urns, (K + 1) × size
  std::vector<Index> count_;
  Index n_begun_ = 0;   // number of urns that began with earlier rows; they come first
  Vec removed_from_;    // copy of an urn before the last removal
  Index removed_ = -1;  // number of the urn before that removal; −1: none
};

}  // namespace bnpvi
