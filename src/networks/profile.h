// A node's profile: the membership that all its pairs without a link share in q.
#pragma once
#include "foundation/types.h"

namespace bnpvi::networks {

/// Finds the profile ρ of a node, its membership (K numbers that sum to 1) in its pairs without a link:
/// raises, from the given ρ,
///   f(ρ) = n0 Σ_k (g_k ρ_k − ρ_k log ρ_k) + Σ_k log Γ(e_k + n0 ρ_k + p_k),
/// the node's part of the bound with q(π) at its optimum. The node has n0 > 0 pairs without a link; e_k are
/// expected link ends, p_k = απ_k, and g_k is the expected gain of such a pair in community k. Updates ρ ∝
/// exp(E log π + g) alone are slow, since E log π depends on the previous ρ: each goes only deg / n0 of the
/// way. With c_k = e_k + p_k − ½ and ψ(x) ≈ log(x − ½) their fixed point is ρ_k = c_k / (n0 (exp(ν − g_k) −
/// 1)) where c_k > 0, else 0, with ν from Σ ρ = 1. A few updates follow from there and from the old ρ, and
/// the better result is used.
void best_profile(double n0, const double* g, const double* e, const double* p, Index k, double* rho);

}  // namespace bnpvi::networks
