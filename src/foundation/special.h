// Special functions, safe in threads.
#pragma once
#include <cmath>

#include "foundation/types.h"

namespace bnpvi {

double log_gamma(double x);                // x > 0
double digamma(double x);                  // x > 0
double trigamma(double x);                 // x > 0
double log_beta(double a, double b);       // log Beta function
double log_rising(double a, double x);     // log Γ(a + x) − log Γ(a), x ≥ 0, of any a
double log_multigamma(Index d, double x);  // log Γ_d(x) = (d(d−1)/4) log π + Σ_i log Γ(x − i/2), i < d
double multidigamma(Index d, double x);    // ψ_d(x) = Σ_i ψ(x − i/2), i < d

inline double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0; }  // x log x, 0 at 0

}  // namespace bnpvi
