// Missing cells of columns that are independent given the cluster.
#pragma once
#include <algorithm>
#include <cmath>

#include "foundation/types.h"

namespace bnpvi {

/// When columns are independent, a missing cell is integrated out by leaving it out: its features are 0, and
/// column j counts its observed cells, N_j = Σ r δ_j. A model that may have gaps has the features δ_j after
/// all others; a model without gaps counts rows, N_j = T_0.
class ColumnGaps {
 public:
  /// columns: D; complete: the number of features of the model without gaps.
  ColumnGaps(bool gaps, Index columns, Index complete)
      : gaps_(gaps), columns_(columns), complete_(complete) {}

  explicit operator bool() const { return gaps_; }
  Index n_features() const { return gaps_ ? complete_ + columns_ : complete_; }
  /// Position, among the features, of the count of column j.
  Index at(Index j) const { return gaps_ ? complete_ + j : 0; }
  /// N_j, at least 0: rounding in sums and differences of summaries could make it negative.
  double count(const double* t, Index j) const { return std::max(t[at(j)], 0.0); }
  /// The fraction of rows whose cell in column j is observed (1 in a cluster without rows). Point estimates
  /// use it in place of the count.
  double share(const double* t, Index j) const {
    return gaps_ && t[0] > 0 ? std::min(count(t, j) / t[0], 1.0) : 1;
  }

  /// Σ_j f(N_j), which is D f(N) without gaps.
  template <class F>
  double sum(const double* t, F f) const {
    if (!gaps_) return static_cast<double>(columns_) * f(count(t, 0));
    double out = 0;
    for (Index j = 0; j < columns_; ++j) out += f(count(t, j));
    return out;
  }

  /// Σ_j 1/(κ + N_j), which is D/(κ + N) without gaps.
  double sum_of_inverse(const double* t, double strength) const {
    if (!gaps_) return static_cast<double>(columns_) / (strength + count(t, 0));
    return sum(t, [strength](double n) { return 1 / (strength + n); });
  }

  /// Writes the features δ_j of n rows whose other features are in place, with NaN where a cell is missing.
  /// δ_j is one(f), f the features of the row, or 0 for a missing cell, whose NaN features become 0, too.
  /// value: position of the first D features to check for NaN; per_column: number of such groups of D
  /// features, one after the other.
  template <class F>
  void mark(Index n, double* phi, Index ld, Index value, Index per_column, F one) const {
    if (!gaps_) return;
    for (Index i = 0; i < n; ++i) {
      double* f = phi + i * ld;
      const double here = one(f);
      for (Index j = 0; j < columns_; ++j) {
        const bool missing = std::isnan(f[value + j]);
        f[complete_ + j] = missing ? 0 : here;
        for (Index v = 0; missing && v < per_column; ++v) f[value + v * columns_ + j] = 0;
      }
    }
  }

  /// Gaps::from_complete.
  void from_complete(const double* complete_t, double* t) const {
    for (Index i = 0; i < complete_; ++i) t[i] = complete_t[i];
    for (Index i = complete_; i < n_features(); ++i) t[i] = complete_t[0];
  }

 private:
  bool gaps_;
  Index columns_, complete_;
};

}  // namespace bnpvi
