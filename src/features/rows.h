// The data of a fit of latent features, in the form that its matrix products need.
#pragma once
#include <memory>
#include <vector>

#include "inference/data/source.h"
#include "inference/data/summary.h"

namespace bnpvi::features {

/// The rows of a batch. Columns that are missing in the same rows form a group: their loadings have the same
/// precision matrix. Group 0 has the columns that are never missing.
struct RowBatch {
  Index n = 0, d = 0;
  Buffer x;                      // n × d, row-major; 0 where missing
  std::vector<Index> number;     // number of each row in the data as given, the key of its random numbers
  std::vector<Index> gap_start;  // where each row's entries in `gap` begin, n + 1 numbers
  std::vector<int> gap;          // for each row, the groups of columns that it misses, ascending

  const double* row(Index i) const { return x.data() + i * d; }
  Index n_gaps(Index i) const { return gap_start[i + 1] - gap_start[i]; }
  const int* gaps(Index i) const { return gap.data() + gap_start[i]; }
};

/// Transformation of the columns of the data: x becomes x/unit − centre/unit. No transformation if these are
/// empty.
struct ColumnUnits {
  Vec centre, unit;
};

/// The dense rows of numbers (NaN where missing) of a fit of latent features, batch after batch.
class Rows {
 public:
  /// parent: the group of each column in an earlier fit, or 0; columns with different parents stay in
  /// different groups. keep: whether batches stay in memory. Otherwise a batch is read from the source each
  /// time it is opened.
  Rows(std::shared_ptr<const Source> source, ColumnUnits units, const std::vector<int>& parent, bool keep);

  Index n = 0, d = 0;
  std::vector<int> group;         // number of the group of each column
  Vec group_size;                 // number of columns of each group
  std::vector<int> parent;        // for each group: the group of an earlier fit of which it is a part
  std::vector<Index> batch_rows;  // number of rows of each batch

  Index n_groups() const { return static_cast<Index>(group_size.size()); }
  Index n_batches() const { return static_cast<Index>(batch_rows.size()); }
  /// Opens batch b; the rows stay valid for as long as the result is held.
  std::shared_ptr<const RowBatch> open(Index b) const;
  double cells(const RowBatch& batch, Index i) const;  // number of observed cells of row i

 private:
  void group_columns(const std::vector<int>& parent);
  RowBatch read(Index b) const;

  std::shared_ptr<const Source> source_;
  ColumnUnits units_;
  std::vector<int> gappy_;       // groups of columns that are missing in some rows
  std::vector<Index> a_column_;  // one column of each group
  std::vector<std::shared_ptr<const RowBatch>> kept_;
};

/// Layout of the statistics of K features in a Summary; the offset, a feature that all rows have, comes first
/// if there is one. With ν_nk = q(z_nk = 1), the probability that row n has feature k:
///   obs N_k = Σ ν_k;  extra (S_zx)_k = Σ ν_k x and, last, the entropy Σ h₂(ν_k);
///   pair [0] S_zz = Σ E z zᵀ over all rows, [g] over the rows that miss column group g ≥ 1;
///   scalar [1] rows, [2] observed cells, [3] S_xx = Σ|x|².
SummaryShape summary_shape(const Rows& rows);
enum Scalar : Index { n_rows = 1, n_cells = 2, sum_squares = 3, n_scalars = 4 };

/// The entropy of feature j in a summary (sums of statistics): the sum over rows n of that of q(z_nj).
inline double entropy_of(const Summary& s, Index j) { return s.extra[(j + 1) * s.shape.q - 1]; }
inline double pair_of(const Summary& s, Index i, Index j, Index g) {
  return s.pair[(i * s.k + j) * s.shape.pairs + g];
}

}  // namespace bnpvi::features
