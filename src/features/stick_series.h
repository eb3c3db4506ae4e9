// Expectations of log(1 − π) where π is a product of Beta variables, as in the Indian buffet process.
#pragma once
#include "foundation/types.h"

namespace bnpvi::features {

/// Expectations for products π_k = Π_{i≤k} v_i of independent sticks v_i ~ Beta(τ_i1, τ_i2), i ≤ L. tau: the
/// pairs τ, one after the other.
///   complement_k = E log(1 − π_k) = −Σ_m E[π_k^m]/m,   dilogarithm = E Li₂(π_L) = Σ_m E[π_L^m]/m²,
///   E[π_k^m] = Π_{i≤k} B(τ_i1 + m, τ_i2) / B(τ_i1, τ_i2).
/// complement_1 is ψ(τ_12) − ψ(τ_11 + τ_12). At most the first 500 terms of a series are summed. If these are
/// not enough, the rest is computed as an integral over log m. complement_gradient: gradient of Σ_k weight_k
/// complement_k by τ. dilogarithm_gradient: gradient of the dilogarithm by τ.
struct StickSeries {
  Vec complement;
  double dilogarithm = 0;
  Vec complement_gradient, dilogarithm_gradient;
};

StickSeries stick_series(const Vec& tau, const Vec& weight);

}  // namespace bnpvi::features
