// The inner loops of individuals with random effects: one small linear system for each and each cluster.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Where things are for q effects and p other regressors. Symmetric matrices are packed by rows, (i, j) at
/// i (i + 1) / 2 + j for j ≤ i.
///
/// Features of an individual in a cluster: the count and second moments of (1, a), a being its coefficients;
/// the number of its rows and the second moments of (x, y − z'a); the entropy of q(a).
/// Sums of its rows: 1, n, Z'Z (packed), Z'X (q × p), Z'y, and the second moments of (x, y).
struct EffectsPlaces {
  static constexpr Index most = 5;  // q at most

  constexpr EffectsPlaces(Index n_effects, Index n_others)
      : q(n_effects),
        p(n_others),
        rows((q + 1) * (q + 2) / 2),
        moments(rows + 1),
        entropy(moments + (p + 1) * (p + 2) / 2),
        features(entropy + 1),
        zx(zz + q * (q + 1) / 2),
        zy(zx + q * p),
        moments_of_rows(zy + q),
        sums(moments_of_rows + (p + 1) * (p + 2) / 2) {}

  static constexpr Index effects = 0, zz = 2;  // of the count and moments of (1, a); of Z'Z
  Index q, p;
  Index rows, moments, entropy, features;
  Index zx, zy, moments_of_rows, sums;
};

/// q(a) = N(m, S) of an individual in a cluster with weights w (`features` of them), the best for these:
///   S = (τ Z'Z + W)⁻¹, h = τ Z'y − Z'X w_xy + w_a, m = S h,   τ = −2 w_yy, W = −2 w_aa, W μ = w_a, τ b =
///   w_xy; log ∫ exp⟨φ, w⟩ da = w_0 + n w_n + ⟨moments of (x, y), w⟩ + ½ h'm + ½ log|2πS|.
/// sums: n × `sums`. scratch: effects_scratch(places, n) doubles. What returns a flag returns false where a
/// precision of effects is not positive definite; then what was written is worth nothing.
struct EffectsKernels {
  /// Of each in each of k clusters, whose weights are ld apart: out (n × k).
  bool (*log_weights)(const EffectsPlaces& at, Index n, const double* sums, Index k, const double* w,
                      Index ld, double* scratch, double* out);

  /// t_j += Σ_i r_ij E φ, r (n × k). Individuals of no weight are left out.
  bool (*add)(const EffectsPlaces& at, Index n, const double* sums, Index k, const double* r,
              const double* const* w, double* scratch, double* const* t);

  /// In one cluster: m (n × q) and S (n × q (q + 1) / 2, packed).
  bool (*moments)(const EffectsPlaces& at, Index n, const double* sums, const double* w, double* scratch,
                  double* mean, double* covariance);
};

inline Index effects_scratch(const EffectsPlaces& at, Index n) { return (n + 8) * at.sums + 8 * at.features; }

/// For q effects, 1 to `most`, of the version that kernels() is of.
const EffectsKernels& effects_kernels(Index q);

}  // namespace bnpvi
