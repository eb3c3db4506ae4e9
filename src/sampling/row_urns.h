// Clusters of rows for a sampler; each row is represented by its features.
#pragma once
#include "sampling/observation_urns.h"
#include "sampling/row_features.h"
#include "sampling/urns.h"

namespace bnpvi {

/// x: the log densities of a row in clusters with these prior odds. Replaces each x_j by exp(x_j − top), and
/// returns `top`, the largest x_j with odds_j > 0. Results with odds_j = 0 are arbitrary.
double exp_where_possible(const Vec& odds, double* x);

class RowUrns final : public ObservationUrns {
 public:
  /// Begins without clusters. Keeps a reference to `rows`, the features of the rows that may be added.
  RowUrns(const ObsModel& obs, const RowFeatures& rows) : rows_(rows), urns_(obs) {}

  void begin_with(const double* t, Index k) override;
  /// Removes all rows, then adds each row to the cluster of its label.
  void begin_with(const std::vector<int>& label);
  Index k() const override { return urns_.k(); }
  void add(Index j, Index i, double mass) override;
  bool remove(Index j, Index i, double mass) override;
  void drop(Index j) override;
  double weigh_without(Index i, Index own, double mass, const Vec& odds, double* out) const override;
  /// Computes the statistics of all clusters from scratch, so that earlier additions and removals leave no
  /// rounding errors.
  Vec statistics(const Vec& begun, const std::vector<int>& label, const Vec& mass) const override;

  const RowFeatures& rows() const { return rows_; }
  const Urns& urns() const { return urns_; }
  /// The underlying urns (clusters of rows). They are changed directly when many rows move at once.
  Urns& urns() { return urns_; }

 private:
  const RowFeatures& rows_;
  Urns urns_;
  Index removed_ = -1, removed_from_ = -1;  // the last change of urns, if that was a removal
  double removed_mass_ = 0;
};

}  // namespace bnpvi
