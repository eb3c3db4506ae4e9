#include "observations/tail_weight.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "foundation/special.h"

namespace bnpvi {

namespace {

constexpr double small_step = 0.02;  // of ν, below which its posterior is as good
constexpr double same_nu = 1e-9;     // relative variance of ν that is rounding
constexpr double settled = -1;       // step of log ν by its posterior, up to which Newton's is made
constexpr double least_rows = 1;     // of which a Newton step is made
constexpr double furthest = 0.3;

// ψ(x) − log x, without the cancellation for large x.
double digamma_less_log(double x) { return (stirling_remainder(x) - log_gamma_remainder(x)) / x; }

double expected(const ShapeLattice& q, double (*f)(double)) {
  double sum = 0;
  for (std::size_t i = 0; i < q.shape().size(); ++i) sum += q.prob()[i] * f(q.shape()[i]);
  return sum;
}

double itself(double nu) { return nu; }
double remainder_of_half(double nu) { return stirling_remainder(nu / 2); }

}  // namespace

ScaleDensity::ScaleDensity(double shape)
    : a(shape),
      constant(stirling_remainder(shape)),
      log_scale(digamma_less_log(shape)),
      entropy(log_gamma_remainder(shape) + log_scale),
      spread(trigamma_remainder(shape)) {}

// Σ r E log p(u | ν) is N (ν/2 − log Γ remainder) ... of which −N S(ν/2) + (ν/2) Σ r (E log u − E u + 1) is
// left, S being what Stirling's terms leave of log Γ, beside −L, which is in log_evidence().
ShapeLattice TailWeight::posterior(const ScaleSums& s) const {
  const double n = std::max(s.n, 0.0), start = s.used > 0 && n >= least_rows
                                                   ? std::log(s.used / n)
                                                   : std::numeric_limits<double>::quiet_NaN();
  const double sum = std::min(s.log_scale, 0.0);
  return prior_.posterior([n, sum](double nu) { return 0.5 * nu * sum - n * stirling_remainder(nu / 2); }, n,
                          start);
}

double TailWeight::mean(const ScaleSums& s) const { return expected(posterior(s), itself); }

double TailWeight::log_evidence(const ScaleSums& s, const ShapeLattice& posterior) const {
  const bool says_something = s.n != 0 || s.log_scale != 0;  // Λ(0) is 0 exactly, and not to rounding
  return (d_ / 2 - 1) * (s.log_scale + s.total - s.n) + s.entropy +
         (says_something ? posterior.log_integral() : 0);
}

double TailWeight::evidence_and_slopes(const ScaleSums& s, Slopes& out) const {
  const ShapeLattice q = posterior(s);
  out = slopes(s, q);
  return log_evidence(s, q);
}

TailWeight::Slopes TailWeight::slopes_at(double nu) const {
  return {1 - d_ / 2 - remainder_of_half(nu), d_ / 2 - 1, d_ / 2 - 1 + nu / 2};
}

TailWeight::Slopes TailWeight::slopes(const ScaleSums& s, const ShapeLattice& q) const {
  const double nu = expected(q, itself), remainder = expected(q, remainder_of_half);
  const double step = next(s, nu), used = step > 0 ? step : nu;
  Slopes out = slopes_at(used);
  out.n += remainder_of_half(nu) - remainder;
  return out;
}

double TailWeight::next(const ScaleSums& s, double mean) const {
  if (prior_.known > 0 || !(s.used > 0) || s.n < least_rows) return 0;
  const double nu = s.used / s.n;
  if (!(std::abs(s.used_square / s.n - nu * nu) <= same_nu * nu * nu)) return 0;
  if (std::abs(std::log(mean / nu)) > settled) return 0;
  const auto& [c, d] = prior_.prior;
  const double slope = -0.5 * s.n * digamma_less_log(nu / 2) + 0.5 * s.log_scale,
               bend = -s.n * trigamma_remainder(nu / 2) / (2 * nu) + 0.25 * s.information;
  const double by_log = nu * slope + c - d * nu, bend_by_log = nu * nu * bend + nu * slope - d * nu;
  double step = bend_by_log < 0 ? -by_log / bend_by_log : std::copysign(furthest, by_log);
  step = std::clamp(step, -furthest, furthest);
  return std::abs(std::expm1(step)) < small_step ? 0 : nu * std::exp(step);
}

}  // namespace bnpvi
