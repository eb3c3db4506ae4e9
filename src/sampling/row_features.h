// Features of single rows, which a sampler reads in any order.
#pragma once
#include <algorithm>

#include "observations/obs_model.h"

namespace bnpvi {

/// Features φ of n rows, which are numbered 0 .. n − 1. If the features of all rows (n × p) take at most 256
/// MB, they are stored. Otherwise of() computes the features of one row at each call.
class RowFeatures {
 public:
  /// The features of all rows of the data that have a likelihood.
  RowFeatures(const ObsModel& obs, const Dataset& data);
  /// The features of the given rows of the data.
  RowFeatures(const ObsModel& obs, const Dataset& data, std::vector<Index> rows);
  /// The features of rows that are in no data set, given as a matrix (n × p); rows() are then 0 .. n − 1.
  RowFeatures(const ObsModel& obs, Vec phi);

  Index n() const { return static_cast<Index>(rows_.size()); }
  Index p() const { return p_; }
  const std::vector<Index>& rows() const { return rows_; }  // their numbers in the data

  /// A buffer for of(): p numbers, or empty if all features are stored already.
  Vec buffer() const { return Vec(kept_.empty() ? static_cast<std::size_t>(p_) : 0); }
  /// The features of row i (p numbers); computed into `buffer` (p) unless they are stored. Safe to call from
  /// several threads.
  const double* of(Index i, double* buffer) const {
    if (!kept_.empty()) return kept_.data() + i * p_;
    obs_.features(*data_, &rows_[i], 1, buffer, p_);
    return buffer;
  }
  /// Gives row i the features phi (p numbers); only for rows whose features are stored. Not safe while other
  /// threads read them.
  void replace(Index i, const double* phi) { std::copy_n(phi, p_, kept_.data() + i * p_); }
  /// Adds mass φ(row i) to t (p numbers). Safe to call from several threads.
  void add_to(double* t, Index i, double mass = 1) const;

 private:
  const ObsModel& obs_;
  const Dataset* data_ = nullptr;
  Index p_;
  std::vector<Index> rows_;
  Vec kept_;
};

}  // namespace bnpvi
