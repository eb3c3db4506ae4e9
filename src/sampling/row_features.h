// Features of single rows, in any order.
#pragma once
#include "observations/obs_model.h"

namespace bnpvi {

/// φ of some rows, which are numbered 0 .. n − 1. All are kept, n × p, if they take at most 256 MB; else of()
/// computes each.
class RowFeatures {
 public:
  /// Of all rows of the data that are modelled.
  RowFeatures(const ObsModel& obs, const Dataset& data);
  /// Of these rows of the data.
  RowFeatures(const ObsModel& obs, const Dataset& data, std::vector<Index> rows);
  /// Of rows with these features (n × p), which are in no data: rows() are 0 .. n − 1.
  RowFeatures(const ObsModel& obs, Vec phi);

  Index n() const { return static_cast<Index>(rows_.size()); }
  Index p() const { return p_; }
  const std::vector<Index>& rows() const { return rows_; }  // their numbers in the data

  /// For of(): p numbers; none if all are kept.
  Vec buffer() const { return Vec(kept_.empty() ? static_cast<std::size_t>(p_) : 0); }
  /// φ of row i (p); in `buffer` (p), unless it is kept. Safe in threads.
  const double* of(Index i, double* buffer) const {
    if (!kept_.empty()) return kept_.data() + i * p_;
    obs_.features(*data_, &rows_[i], 1, buffer, p_);
    return buffer;
  }
  /// t += mass φ of row i, p numbers. Safe in threads.
  void add_to(double* t, Index i, double mass = 1) const;

 private:
  const ObsModel& obs_;
  const Dataset* data_ = nullptr;
  Index p_;
  std::vector<Index> rows_;
  Vec kept_;
};

}  // namespace bnpvi
