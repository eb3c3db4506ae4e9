// Inner loops for logistic likelihoods: a separate table, in the same version as Kernels.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

struct TangentKernels {
  /// Bounds of the expected logarithms of n logistic likelihoods e^{κψ} / (2 cosh(ψ/2))^m with ψ = offset +
  /// x'b, given linear = E x'b and square = E (x'b)², at c = √(E ψ²): out = κ E ψ − m log 2cosh(c/2). out may
  /// be the same array as square.
  void (*bounds)(Index n, const double* m, const double* kappa, const double* offset, const double* linear,
                 const double* square, double* out);

  /// Coefficients of the quadratic bounds −½ωψ² + κψ + const in ψ that touch at c, with ω = m tanh(c/2) / 2c,
  /// all times r: pull = r (κ − ω offset), omega = r ω, curve = r m p (1 − p) at E ψ, where p = 1 / (1 +
  /// e^{−ψ}). Returns the sum of the parts without b, Σ r (offset (κ − ½ω offset) + ½ωc² − m log 2cosh(c/2)).
  double (*tangents)(Index n, const double* m, const double* kappa, const double* offset,
                     const double* linear, const double* square, const double* r, double* pull, double* omega,
                     double* curve);
};

/// The table of the version in use (see kernels()).
const TangentKernels& tangent_kernels();

/// The table of the version with that name, or nullptr as kernels_named().
const TangentKernels* tangent_kernels_named(const char* name);

}  // namespace bnpvi
