// Special functions, safe to call from several threads. The functions of differences and of ψ' throw
// std::domain_error for negative arguments.
#pragma once
#include <cmath>

#include "foundation/types.h"

namespace bnpvi {

double log_gamma(double x);                // x > 0
double digamma(double x);                  // x > 0
double log_multigamma(Index d, double x);  // log Γ_d(x) = (d(d−1)/4) log π + Σ_i log Γ(x − i/2), i < d
double multidigamma(Index d, double x);    // ψ_d(x) = Σ_i ψ(x − i/2), i < d

/// log Γ(x) − log Γ(x + d), x > 0, d ≥ 0, without the cancellation of the two terms if d is small or x is
/// large. As long as d / x does not underflow, the error is at most 1e-14 d max(1, 1/x, |log x|) or, if d >
/// x, 1e-14 times the larger of the two logarithms.
double log_gamma_difference(double x, double d);

/// ψ(x) − ψ(x + d), x > 0, d ≥ 0, to a relative accuracy of 1e-14.
double digamma_difference(double x, double d);

/// log Γ(a) + log Γ(b) − log Γ(a + b), a, b > 0, with an error of at most 1e-14 max(1, |value|).
double log_beta(double a, double b);

/// x + log Γ(x) − x ψ(x), x > 0: about −log x for small x and −½ log x for large x. Entropies of Beta and
/// Dirichlet distributions are sums of such terms; the leading term x log x of log Γ(x) is not in them.
double log_gamma_remainder(double x);

/// log Γ(x) − x log x + x, x > 0, that is, log Γ(x) without Stirling's leading terms: about −½ log x for
/// large x.
double stirling_remainder(double x);

/// x ψ'(x) − 1, x > 0: about 1/x for small x and 1/(2x) for large x.
double trigamma_remainder(double x);

inline double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }  // x log x, 0 at 0

constexpr double log_2 = 0.6931471805599453;
constexpr double log_2pi = 1.8378770664093456;

/// log(1 + e^x), for any x.
inline double log_1p_exp(double x) { return x > 40 ? x : std::log1p(std::exp(x)); }

}  // namespace bnpvi
