// Responsibilities (probabilities of clusters) of a block of rows. One type holds dense and sparse ones.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Responsibilities of n rows for K clusters; each row sums to 1. Dense: `value` is n × K. Sparse: each row
/// has `width` = L entries, and `value` and `cluster` are n × L.
struct Responsibilities {
  Index n = 0;
  Index k = 0;
  Index width = 0;  // entries for each row: K when dense, L when sparse
  bool sparse = false;
  Vec value;                 // responsibilities, n × width, row-major
  std::vector<int> cluster;  // when sparse: the cluster of each entry, n × width
  Vec log_weight;            // scratch when sparse: log weights of the entries, n × width
  Vec row_entropy;           // scratch: entropy of each row, n

  double get(Index row, Index j) const;
};

/// Responsibilities below this value are set to exactly zero. So clusters that explain no row become exactly
/// empty. For each observation this lowers the bound by at most K times the value. (The value is a guess: far
/// below the tolerance of fits.)
inline constexpr double negligible = 1e-12;

/// Turns posterior log weights w (n × K) into responsibilities. If 0 < width < K, only the `width` largest of
/// each row are kept, which is the optimum of the bound under that constraint [Hughes 2016, ch. 7]. Adds the
/// entropy −Σ r log r of the n rows to `entropy`.
void normalise(Index n, Index k, const Vec& w, Index width, Responsibilities& out, double& entropy);

/// Computes responsibilities of rows whose L clusters are given: `out` has n, k, width, sparse, cluster and
/// log_weight; `value` is filled. Adds the entropy −Σ r log r to `entropy`.
void normalise_support(Responsibilities& out, double& entropy);

/// Finds the `width` largest entries of each row of w (n × k). Writes the entries to `kept` and their columns
/// to `column` (both n × width), in the order of columns. Of equal entries the one in the smaller column is
/// preferred.
void select_largest(Index n, Index k, const double* w, Index width, double* kept, int* column);

/// Responsibilities of all rows as given by a caller: a matrix (n × K, column-major), or the label of each
/// row (its cluster, from 1). The caller owns the numbers; this object points to them.
class GivenResponsibilities {
 public:
  GivenResponsibilities() = default;
  GivenResponsibilities(const double* r, Index n, Index k) : r_(r), n_(n), k_(k) {}
  GivenResponsibilities(const int* label, Index k) : label_(label), k_(k) {}

  Index k() const { return k_; }

  /// These responsibilities for the rows of a batch: row i of the batch is row (*numbers)[i] of all rows, or
  /// row i if `numbers` is null.
  GivenResponsibilities of_rows(const std::vector<Index>* numbers) const {
    GivenResponsibilities out = *this;
    out.numbers_ = numbers;
    return out;
  }

  double operator()(Index row, Index j) const {
    if (numbers_) row = (*numbers_)[row];
    return label_ ? label_[row] == j + 1 : r_[j * n_ + row];
  }

 private:
  const double* r_ = nullptr;
  Index n_ = 0;
  const int* label_ = nullptr;
  Index k_ = 0;
  const std::vector<Index>* numbers_ = nullptr;
};

}  // namespace bnpvi
