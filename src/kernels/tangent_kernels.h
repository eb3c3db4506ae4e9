// Inner loops for logistic likelihoods: a separate table, in the same version as Kernels.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

struct TangentKernels {
  /// Bounds of the expected logarithms of n logistic likelihoods e^{constant + κψ} / (2 cosh(ψ/2))^m with ψ =
  /// offset + x'b, given linear = E x'b and square = E (x'b)², at c = √(E ψ²): bound = constant + κ E ψ −
  /// m log 2cosh(c/2); omega = m tanh(c/2) / 2c, of the quadratic −½ωψ² + κψ + ... in ψ that touches there;
  /// and curve = m p (1 − p), p = 1 / (1 + e^{−c}), the curvature of the likelihood itself there; a null
  /// curve is not computed.
  void (*bounds)(Index n, const double* m, const double* kappa, const double* constant, const double* offset,
                 const double* linear, const double* square, double* bound, double* omega, double* curve);

  /// From the results of bounds() and the responsibilities r of a cluster for the n rows: pull = r (κ − ω
  /// offset), r_omega = r ω, and r_curve = r curve unless curve is null. Returns Σ r bound.
  double (*pulls)(Index n, const double* kappa, const double* offset, const double* bound,
                  const double* omega, const double* curve, const double* r, double* pull, double* r_omega,
                  double* r_curve);

  /// Out (n × k, row-major): out_ij = base_j + share_j a_ji, the transpose of A (k × n) with each column
  /// scaled and shifted.
  void (*add_transposed)(Index k, Index n, const double* a, Index lda, const double* base,
                         const double* share, double* out);

  /// S += R A: R is k × n, A is n × p, S is k × p; all row-major, with rows ld* apart as in Kernels.
  void (*add_product)(Index k, Index p, Index n, const double* r, Index ldr, const double* a, Index lda,
                      double* s, Index lds);
};

/// The table in the version that is in use (see kernels()).
const TangentKernels& tangent_kernels();

/// The table in the version with that name, or nullptr when it was not built or the processor cannot run it.
const TangentKernels* tangent_kernels_named(const char* name);

}  // namespace bnpvi
