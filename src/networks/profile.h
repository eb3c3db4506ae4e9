// The profile of a node: its membership in all pairs without a link, which q gives the same distribution.
#pragma once
#include "foundation/types.h"

namespace bnpvi::networks {

/// Finds the profile ρ of a node: its membership (K numbers that sum to 1) in its n0 > 0 pairs without a
/// link. Starting from the given ρ, it raises the node's part of the bound with q(π) at its optimum:
///   f(ρ) = n0 Σ_k (g_k ρ_k − ρ_k log ρ_k) + Σ_k log Γ(e_k + n0 ρ_k + p_k).
/// e_k: expected link ends of the node in community k. p_k = απ_k. g_k: expected gain of the bound by one of
/// these pairs if the node acts as a member of k.
///
/// The usual update ρ ∝ exp(E log π + g) is slow: E log π depends on the previous ρ, so that each update goes
/// only deg / n0 of the way. With c_k = e_k + p_k − ½ and ψ(x) ≈ log(x − ½), its fixed point is ρ_k = c_k /
/// (n0 (exp(ν − g_k) − 1)) where c_k > 0, else 0. ν follows from Σ ρ = 1. A few updates are made from this
/// fixed point and from the old ρ, and the better result is used.
void best_profile(double n0, const double* g, const double* e, const double* p, Index k, double* rho);

}  // namespace bnpvi::networks
