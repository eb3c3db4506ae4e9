#include "observations/tail_weight.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "foundation/special.h"

namespace bnpvi {

namespace {

constexpr double same_nu = 1e-9;      // relative variance of ν that counts as rounding
constexpr double most_hidden = 0.99;  // largest ρ; at a maximum ρ is below 1
constexpr double furthest = 0.5,
                 least_step = 0.03;  // bounds of a step of log ν; below the least, EM's step is as good
constexpr double boldness = 0.8;     // of the excess over EM's step, since means and covariances move, too
constexpr double first_guess = 5;    // of ν, unless it lies outside what the prior allows
constexpr double allowed = 3;  // standard deviations of log ν under its prior, which are about 1 / √shape

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

// Σ r E log p(u | ν) + L = −N S(ν/2) + (ν/2) Σ r (E log u − E u + 1), with S Stirling's remainder of log Γ.
// As a function of ν/2 this has the form of the likelihood of the shape of Gamma values.
ShapeLattice TailWeight::posterior(const ScaleSums& s) const {
  const double n = std::max(s.n, 0.0);
  const double sum = std::min(s.log_scale, 0.0);
  const double start = n < 2 ? std::numeric_limits<double>::quiet_NaN()
                             : log_best_shape((2 * prior_.prior.rate - sum) / n) + log_2;
  return prior_.posterior([n, sum](double nu) { return 0.5 * nu * sum - n * stirling_remainder(nu / 2); }, n,
                          start);
}

double TailWeight::mean(const ScaleSums& s) const { return expected(posterior(s), itself); }

double TailWeight::log_evidence(const ScaleSums& s, const ShapeLattice& posterior) const {
  const bool says_something = s.n != 0 || s.log_scale != 0;  // Λ(0) is exactly 0, not only up to rounding
  return (d_ / 2 - 1) * (s.log_scale + s.total - s.n) + s.entropy +
         (says_something ? posterior.log_integral() : 0);
}

double TailWeight::evidence_and_slopes(const ScaleSums& s, Slopes& out) const {
  const ShapeLattice q = posterior(s);
  out = slopes(q);
  return log_evidence(s, q);
}

TailWeight::Slopes TailWeight::slopes_at(double nu) const {
  return {1 - d_ / 2 - remainder_of_half(nu), d_ / 2 - 1, d_ / 2 - 1 + nu / 2};
}

TailWeight::Slopes TailWeight::hastened(const ScaleSums& s) const {
  if (prior_.known > 0 || !(s.n > 0)) return {0, 0, 0};
  const double before = s.used / s.n;
  if (!(std::abs(s.used_square / s.n - before * before) <= same_nu * before * before)) return {0, 0, 0};
  const ShapeLattice q = posterior(s);
  const double nu = expected(q, itself);
  const auto from = [&](double next) {
    const Slopes here = slopes_at(nu), there = slopes_at(next);
    return Slopes{there.n - here.n, there.total - here.total, there.log_scale - here.log_scale};
  };
  if (before == 0 || before > gaussian / 2) {
    const double mean = prior_.prior.shape / prior_.prior.rate, off = allowed / std::sqrt(prior_.prior.shape);
    return from(std::clamp(first_guess, mean * std::exp(-off), mean * std::exp(off)));
  }
  double variance = 0;
  for (std::size_t i = 0; i < q.shape().size(); ++i)
    variance += q.prob()[i] * (q.shape()[i] - nu) * (q.shape()[i] - nu);
  const double hidden = std::clamp(0.25 * variance * s.information * before / nu, 0.0, most_hidden);
  const double own = std::log(nu / before);
  const double step = std::clamp(own * (1 + boldness * hidden / (1 - hidden)), -furthest, furthest);
  if (!(std::abs(step) > std::max(std::abs(own), least_step))) return {0, 0, 0};
  return from(before * std::exp(step));
}

TailWeight::Slopes TailWeight::slopes(const ShapeLattice& q) const {
  Slopes out = slopes_at(expected(q, itself));
  out.n = 1 - d_ / 2 - expected(q, remainder_of_half);
  return out;
}

}  // namespace bnpvi
