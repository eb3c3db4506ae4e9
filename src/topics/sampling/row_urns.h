// Topics of rows while rows come and go.
#pragma once
#include "sampling/row_features.h"
#include "sampling/urns.h"
#include "topics/sampling/topic_urns.h"

namespace bnpvi::topics {

/// exp(x_j − top) in place, any number where prior_j = 0; returns top, the largest x_j where prior_j > 0.
double exp_where_possible(const Vec& prior, double* x);

class RowUrns final : public TopicUrns {
 public:
  /// Refers to the rows.
  RowUrns(const ObsModel& obs, const RowFeatures& rows);

  void begin_with(const double* t, Index k) override;
  /// Clears, and begins with K topics of all rows, each of which has one of these labels.
  void begin_with(const std::vector<int>& label, Index k);
  Index k() const override { return urns_.k(); }
  void add(Index j, Index i, double mass) override;
  bool remove(Index j, Index i, double mass) override;
  void drop(Index j) override;
  double weigh(Index i, const Vec& prior, double* out) override;
  void weigh_without(Index i, Index own, double mass, const Vec& prior, double* out) const override;

  const Urns& urns() const { return urns_; }

  /// Sums anew: what came and went leaves no rounding errors.
  Vec statistics() const override;

 private:
  const RowFeatures& rows_;
  Urns urns_;
  Vec begun_;               // statistics of the earlier rows
  std::vector<int> topic_;  // of each row, −1: none
  Vec mass_;                // of each row in its topic
  Vec phi_;
  Index removed_ = -1, removed_from_ = -1;  // the last change, if that was a removal
};

}  // namespace bnpvi::topics
