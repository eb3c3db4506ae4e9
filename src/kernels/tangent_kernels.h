// The inner loops of logistic likelihoods: a table of their own beside Kernels, chosen with it.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

struct TangentKernels {
  /// Of n logistic likelihoods e^{κψ} / (2 cosh(ψ/2))^m with ψ = offset + x'b, of which linear is E x'b and
  /// square E (x'b)², at c = √(E ψ²): out = κ E ψ − m log 2cosh(c/2). out may be square.
  void (*bounds)(Index n, const double* m, const double* kappa, const double* offset, const double* linear,
                 const double* square, double* out);

  /// The quadratics −½ωψ² + κψ + const in ψ that touch there, with ω = m tanh(c/2) / 2c, times r: pull = r (κ
  /// − ω offset), omega = r ω, curve = r m p (1 − p) at E ψ. Returns Σ r (offset (κ − ½ω offset) + ½ωc² −
  /// m log 2cosh(c/2)), their part without b.
  double (*tangents)(Index n, const double* m, const double* kappa, const double* offset,
                     const double* linear, const double* square, const double* r, double* pull, double* omega,
                     double* curve);
};

/// Of the version that kernels() is.
const TangentKernels& tangent_kernels();

/// Of the version of that name, or nullptr as kernels_named().
const TangentKernels* tangent_kernels_named(const char* name);

}  // namespace bnpvi
