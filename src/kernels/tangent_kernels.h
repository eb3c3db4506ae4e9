// Inner loops for logistic likelihoods: a table beside Kernels, with the same versions.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

struct TangentKernels {
  /// Bounds the expected logarithms of n logistic likelihoods e^{constant + κψ} / (2 cosh(ψ/2))^m. ψ = offset
  /// + x'b is the linear predictor, with given moments linear = E x'b and square = E (x'b)². The bound of the
  /// log-likelihood, −½ωψ² + κψ + ..., is quadratic in ψ and touches the exact one at c = √(E ψ²). Results:
  ///   bound  constant + κ E ψ − m log 2cosh(c/2);
  ///   omega  m tanh(c/2) / 2c;
  ///   curve  m p (1 − p) with p = 1 / (1 + e^{−c}), the curvature of the exact log-likelihood at c; not
  ///          computed if curve is null.
  void (*bounds)(Index n, const double* m, const double* kappa, const double* constant, const double* offset,
                 const double* linear, const double* square, double* bound, double* omega, double* curve);

  /// Multiplies the results of bounds() by the responsibilities r of a cluster for the n rows: pull = r
  /// (kappa − omega offset), r_omega = r omega and, unless curve is null, r_curve = r curve. Adds Σ r and Σ r
  /// bound to the two numbers of sums.
  void (*pulls)(Index n, const double* kappa, const double* offset, const double* bound, const double* omega,
                const double* curve, const double* r, double* pull, double* r_omega, double* r_curve,
                double* sums);

  /// Element e − 1 of the next two arrays is for rows with e regressors x, stored by columns that are ldx
  /// apart.
  static constexpr Index few = 4;

  /// bounds() without the curve, with linear and square found from the cluster's coefficients b. mean: E b;
  /// second: the packed triangle of E bb', with off-diagonal entries doubled.
  void (*bounds_of_few[few])(Index n, const double* m, const double* kappa, const double* constant,
                             const double* offset, const double* x, Index ldx, const double* mean,
                             const double* second, double* bound, double* omega);

  /// Adds Σ r, Σ r bound, Σ pull x (e numbers) and Σ r omega xx' (packed) to sums, with pull as in pulls().
  void (*sums_of_few[few])(Index n, const double* kappa, const double* offset, const double* bound,
                           const double* omega, const double* r, const double* x, Index ldx, double* sums);

  /// Writes the transpose of A (k × n), of which each row is scaled and shifted: out_ij = base_j + share_j
  /// a_ji, n × k, row-major.
  void (*add_transposed)(Index k, Index n, const double* a, Index lda, const double* base,
                         const double* share, double* out);

  /// S += R A: R is k × n, A is n × p, S is k × p; all row-major, with rows ld* apart as in Kernels.
  void (*add_product)(Index k, Index p, Index n, const double* r, Index ldr, const double* a, Index lda,
                      double* s, Index lds);
};

/// The table of inner loops for logistic likelihoods, in the version that is in use (see kernels()).
const TangentKernels& tangent_kernels();

/// The table of inner loops for logistic likelihoods in the version with that name, or nullptr when it was
/// not built or the processor cannot run it.
const TangentKernels* tangent_kernels_named(const char* name);

}  // namespace bnpvi
