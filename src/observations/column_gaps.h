// Counts of observed cells, for models in which columns are independent given the cluster.
#pragma once
#include <algorithm>
#include <cmath>

#include "foundation/types.h"

namespace bnpvi {

/// The counts of observed cells, in models whose D columns are independent given the cluster. A missing cell
/// is left out of the likelihood: its features are 0. Column j counts its observed cells, N_j = Σ r δ_j. r:
/// responsibilities; δ_j: 1 if the cell is observed, else 0. A model with missing cells (gaps) has the
/// features δ_j after all others. A model without gaps counts rows: N_j = T_0.
class ColumnGaps {
 public:
  /// gaps: whether cells may be missing. columns: D. complete: the number of features of the model without
  /// gaps.
  ColumnGaps(bool gaps, Index columns, Index complete)
      : gaps_(gaps), columns_(columns), complete_(complete) {}

  explicit operator bool() const { return gaps_; }
  Index n_features() const { return gaps_ ? complete_ + columns_ : complete_; }
  /// The position, among the features, of the count of observed cells of column j.
  Index at(Index j) const { return gaps_ ? complete_ + j : 0; }
  /// N_j, the number of observed cells of column j in a cluster with statistic t. A value below 0, due to
  /// rounding, is returned as 0.
  double count(const double* t, Index j) const { return std::max(t[at(j)], 0.0); }
  /// The fraction of rows whose cell in column j is observed; 1 in a cluster without rows. Point estimates
  /// describe one row, so they use it in place of the count.
  double share(const double* t, Index j) const {
    return gaps_ && t[0] > 0 ? std::min(count(t, j) / t[0], 1.0) : 1;
  }

  /// Σ_j f(N_j) over the counts N_j of observed cells of the D columns; D f(N) if no cells may be missing.
  template <class F>
  double sum(const double* t, F f) const {
    if (!gaps_) return static_cast<double>(columns_) * f(count(t, 0));
    double out = 0;
    for (Index j = 0; j < columns_; ++j) out += f(count(t, j));
    return out;
  }

  /// Σ_j 1/(κ + N_j) over the counts N_j of observed cells of the D columns, with κ = strength; D/(κ + N) if
  /// no cells may be missing.
  double sum_of_inverse(const double* t, double strength) const {
    if (!gaps_) return static_cast<double>(columns_) / (strength + count(t, 0));
    return sum(t, [strength](double n) { return 1 / (strength + n); });
  }

  /// Completes the features of n rows where cells are missing. A cell is missing if its features are NaN;
  /// they become 0, and δ_j = 0. For an observed cell δ_j = one(f), with f the features of the row. value:
  /// position of the first feature of column 0. per_column: number of features of each column; each kind has
  /// D features in a row.
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

  /// Computes the statistic t that rows without missing cells have under this model, from their statistic
  /// complete_t under the model in which cells cannot be missing (Gaps::from_complete()).
  void from_complete(const double* complete_t, double* t) const {
    for (Index i = 0; i < complete_; ++i) t[i] = complete_t[i];
    for (Index i = complete_; i < n_features(); ++i) t[i] = complete_t[0];
  }

 private:
  bool gaps_;
  Index columns_, complete_;
};

}  // namespace bnpvi
