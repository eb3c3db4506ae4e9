// What the pairs of a node without a link say of its memberships.
#pragma once
#include "foundation/types.h"

namespace bnpvi::networks {

/// Raises, from the ρ given, over the simplex of K memberships,
///   f(ρ) = n0 Σ_k (g_k ρ_k − ρ_k log ρ_k) + Σ_k log Γ(e_k + n0 ρ_k + p_k),
/// the bound's part of a node with n0 > 0 pairs without a link and q(π) at its optimum: e_k expected link
/// ends, p_k = απ_k, g_k the expected gain of a pair in k. The visits ρ ∝ exp(E log π + g) alone hardly move,
/// as E log π repeats what ρ was: they go deg / n0 of the way. With c_k = e_k + p_k − ½ and ψ(x) ≈ log(x − ½)
/// their fixed point is ρ_k = c_k / (n0 (exp(ν − g_k) − 1)) where c_k > 0, else 0, with ν by Σ ρ = 1. A few
/// visits from there, or from the old ρ, whichever ends higher.
void best_profile(double n0, const double* g, const double* e, const double* p, Index k, double* rho);

}  // namespace bnpvi::networks
