// Inner loops for individuals with random effects: one small linear system for each individual and cluster.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Offsets of the parts of two arrays, features and sums, for individuals (groups of rows) with q random
/// effects a, whose regressors are z, and p other regressors x. Symmetric matrices are packed by rows: entry
/// (i, j), j ≤ i, is at i (i + 1) / 2 + j.
///
/// Features of an individual in a cluster: the count and second moments of (1, a); the number of the
/// individual's rows and the second moments of (x, y − z'a); the entropy of q(a).
///
/// Sums over the n rows of an individual: 1, n, Z'Z (packed), Z'X (q × p), Z'y, and the second moments of (x,
/// y).
struct EffectsPlaces {
  static constexpr Index most = 5;  // largest q, the number of random effects

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

  /// Two offsets that do not depend on p. effects: offset of the count and second moments of (1, a) in the
  /// features. zz: offset of Z'Z in the sums.
  static constexpr Index effects = 0, zz = 2;
  Index q, p;
  Index rows, moments, entropy, features;
  Index zx, zy, moments_of_rows, sums;
};

/// The optimal q(a) = N(m, S) of the random effects a of an individual, for rows y = x'b + z'a + noise, where
/// a ~ N(μ, W⁻¹) and the noise has precision τ. φ: the features; w: the weights of a cluster, as long as φ;
/// w_n: the weight of the number of rows n.
///   S = (τ Z'Z + W)⁻¹, h = τ Z'y − Z'X w_xy + w_a, m = S h,
///   with τ = −2 w_yy, W = −2 w_aa, W μ = w_a, τ b = w_xy;
///   log ∫ exp⟨φ, w⟩ da = w_0 + n w_n + ⟨moments of (x, y), w⟩ + ½ h'm + ½ log|2πS|.
/// Arguments sums: n individuals × at.sums numbers; scratch: effects_scratch(at, n) doubles. Functions that
/// return a bool return false if a precision matrix of effects is not positive definite; their output is then
/// invalid.
struct EffectsKernels {
  /// out (n × k) = the log weight of each individual in each of k clusters, log ∫ exp⟨φ, w⟩ da, integrated
  /// over the random effects a. The weights w of successive clusters are ld apart.
  bool (*log_weights)(const EffectsPlaces& at, Index n, const double* sums, Index k, const double* w,
                      Index ld, double* scratch, double* out);

  /// t_j += Σ_i r_ij E φ_i: adds the expected features of individuals i, weighted by their responsibilities r
  /// (n × k), to the statistics of each of k clusters. w[j] and t[j]: weights and statistics of cluster j.
  /// Individuals with r_ij = 0 are skipped.
  bool (*add)(const EffectsPlaces& at, Index n, const double* sums, Index k, const double* r,
              const double* const* w, double* scratch, double* const* t);

  /// Computes the moments of q(a) for n individuals in one cluster: the means m (n × q) and the covariances S
  /// (n × q (q + 1) / 2, packed).
  bool (*moments)(const EffectsPlaces& at, Index n, const double* sums, const double* w, double* scratch,
                  double* mean, double* covariance);
};

inline Index effects_scratch(const EffectsPlaces& at, Index n) { return (n + 8) * at.sums + 8 * at.features; }

/// The functions for q random effects, 1 ≤ q ≤ EffectsPlaces::most, in the version in use (see kernels()).
const EffectsKernels& effects_kernels(Index q);

}  // namespace bnpvi
