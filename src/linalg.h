// Small dense linear algebra for the parameters of one cluster.
#pragma once
#include "types.h"

namespace bnpvi {

/// Lower Cholesky factor of a symmetric positive definite matrix, d × d, row-major, with what is read
/// off it. Throws std::domain_error when the matrix is not positive definite.
class Cholesky {
 public:
  Cholesky() = default;
  Cholesky(const double* a, Index d);

  Index size() const { return d_; }
  double log_det() const { return log_det_; }
  const double* factor() const { return l_.data(); }  // d × d row-major, lower

  void solve_lower(double* x) const;                  // x ← L⁻¹ x
  void solve(double* x) const;                        // x ← A⁻¹ x
  void inverse(double* out) const;                    // A⁻¹, d × d, symmetric

 private:
  Index d_ = 0;
  double log_det_ = 0;
  Vec l_;
};

}  // namespace bnpvi
