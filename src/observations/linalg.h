// Small dense linear algebra for the parameters of one cluster.
#pragma once
#include <functional>

#include "foundation/types.h"

namespace bnpvi {

/// Lower Cholesky factor L of a symmetric positive definite d × d matrix A = L Lᵀ. A is row-major, and only
/// its lower triangle is read. The squared diagonal entries of L are called pivots. Throws std::domain_error
/// when a pivot is not positive and finite.
///
/// least_pivot: known lower bounds of the d pivots, or null. Adding positive semidefinite terms to a matrix
/// never lowers a pivot. So the pivots of a prior are lower bounds for every posterior. For the same reason
/// l_ij² is at most what is left of a_ii after the columns before j. Both bounds are enforced. Otherwise
/// rounding errors would grow when data are nearly collinear.
class Cholesky {
 public:
  Cholesky(const double* a, Index d, const double* least_pivot = nullptr);

  Index size() const { return d_; }
  const Vec& factor() const { return l_; }     // L, zero above the diagonal
  Vec inverse_factor() const;                  // L⁻¹, zero above the diagonal; throws on overflow
  void solve_lower(double* x) const;           // x ← L⁻¹ x
  void solve(double* x) const;                 // x ← A⁻¹ x
  Vec pivots() const;                          // squared diagonal of L
  double log_det(Index from, Index to) const;  // Σ_{from ≤ i < to} log pivot_i

 private:
  Index d_;
  Vec l_;
};

/// Position of entry (i, j) = (j, i) of a symmetric matrix whose lower triangle is packed by rows.
inline Index packed(Index i, Index j) { return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i; }

/// Replaces every eigenvalue λ of the symmetric d × d matrix A by f(λ), keeping the eigenvectors. Throws
/// std::domain_error when an entry is not finite.
void map_eigenvalues(double* a, Index d, const std::function<double(double)>& f);

}  // namespace bnpvi
