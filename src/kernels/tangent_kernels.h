// The inner loops of logistic likelihoods: a table of their own beside Kernels, chosen with it.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

struct TangentKernels {
  /// Of n logistic likelihoods e^{constant + κψ} / (2 cosh(ψ/2))^m with ψ = offset + x'b, of which linear is
  /// E x'b and square E (x'b)², at c = √(E ψ²): bound = constant + κ E ψ − m log 2cosh(c/2); omega = m
  /// tanh(c/2) / 2c, of the quadratic −½ωψ² + κψ + ... in ψ that touches there; and curve = m p (1 − p), p =
  /// 1 / (1 + e^−c), the likelihood's own curvature there. curve may be square.
  void (*bounds)(Index n, const double* m, const double* kappa, const double* constant, const double* offset,
                 const double* linear, const double* square, double* bound, double* omega, double* curve);

  /// The same with shares r: pull = r (κ − ω offset), r_omega = r ω, r_curve = r curve. Returns Σ r bound.
  double (*pulls)(Index n, const double* kappa, const double* offset, const double* bound,
                  const double* omega, const double* curve, const double* r, double* pull, double* r_omega,
                  double* r_curve);

  /// Out (n × k, one row after the other): out_ij = base_j + share_j a_ji; A is k × n.
  void (*add_transposed)(Index k, Index n, const double* a, Index lda, const double* base,
                         const double* share, double* out);

  /// S += R A: R is k × n, A is n × p, S is k × p (cf. Kernels).
  void (*add_product)(Index k, Index p, Index n, const double* r, Index ldr, const double* a, Index lda,
                      double* s, Index lds);
};

/// Of the version that kernels() is.
const TangentKernels& tangent_kernels();

/// Of the version of that name, or nullptr as kernels_named().
const TangentKernels* tangent_kernels_named(const char* name);

}  // namespace bnpvi
