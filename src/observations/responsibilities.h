// Responsibilities of a block of rows, dense or sparse, in one type.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// n × K responsibilities of one block of rows, each row summing to 1.
/// Dense: value is n × K. Sparse: each row keeps `width` = L entries, value and cluster are n × L.
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

/// Responsibilities below this are set to exactly zero, so that clusters that explain nothing become exactly
/// empty. Lowers the bound by at most K times this for each observation. (A guess: far below the tolerance of
/// fits.)
inline constexpr double negligible = 1e-12;

/// Turns posterior log weights W (n × K) into responsibilities: all K of them, or the `width`
/// largest of each row when 0 < width < K [Hughes 2016, ch. 7], the exact optimum of the bound under that
/// constraint. Adds the entropy −Σ r log r of the block to `entropy`.
void normalise(Index n, Index k, const Vec& w, Index width, Responsibilities& out, double& entropy);

/// As normalise(), but with the support of each row (its L clusters) given: `out` has n, k, width, sparse,
/// cluster and log_weight; `value` is filled.
void normalise_support(Responsibilities& out, double& entropy);

/// The `width` largest entries of each row of w (n × k), in the order of columns, and their columns; ties go
/// to the smaller column. kept and column are n × width.
void select_largest(Index n, Index k, const double* w, Index width, double* kept, int* column);

/// Responsibilities of all rows as given by a caller: a matrix (n × K, column-major), or one label for each
/// row (its cluster, from 1), for which no matrix is stored. The caller owns the numbers; this object only
/// points to them.
class GivenResponsibilities {
 public:
  GivenResponsibilities() = default;
  GivenResponsibilities(const double* r, Index n, Index k) : r_(r), n_(n), k_(k) {}
  GivenResponsibilities(const int* label, Index k) : label_(label), k_(k) {}

  Index k() const { return k_; }

  /// These responsibilities for the rows of a batch: row i of the batch is row (*numbers)[i] of all rows;
  /// null: row i.
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
