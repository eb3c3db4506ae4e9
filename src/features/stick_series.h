// Expectations of log(1 − π) where π is a product of Beta variables, as in the Indian buffet process.
#pragma once
#include "foundation/types.h"

namespace bnpvi::features {

/// Expectations for products of sticks, v_i ~ Beta(τ_i1, τ_i2), i ≤ L (tau: one pair after the other), and
/// π_k = Π_{i≤k} v_i:
///   complement_k = E log(1 − π_k) = −Σ_m E[π_k^m]/m,   dilogarithm = E Li₂(π_L) = Σ_m E[π_L^m]/m²,
///   E[π_k^m] = Π_{i≤k} B(τ_i1 + m, τ_i2) / B(τ_i1, τ_i2).
/// complement_1 has the closed form ψ(τ_12) − ψ(τ_11 + τ_12). At most the first 500 terms are summed; if
/// these are not enough, the rest is an integral over log m. complement_gradient and dilogarithm_gradient are
/// the gradients of Σ_k weight_k complement_k and of the dilogarithm with respect to τ.
struct StickSeries {
  Vec complement;
  double dilogarithm = 0;
  Vec complement_gradient, dilogarithm_gradient;
};

StickSeries stick_series(const Vec& tau, const Vec& weight);

}  // namespace bnpvi::features
