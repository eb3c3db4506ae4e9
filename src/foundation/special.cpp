#include "foundation/special.h"

#include <cmath>
#include <unsupported/Eigen/SpecialFunctions>

// std::lgamma writes the global `signgam`; lgamma_r is the same function without that race. Windows has
// no lgamma_r, and no signgam either.
#ifndef _WIN32
extern "C" double lgamma_r(double, int*);
#endif

namespace bnpvi {

double log_gamma(double x) {
#ifdef _WIN32
  return std::lgamma(x);
#else
  int sign;
  return lgamma_r(x, &sign);
#endif
}

double digamma(double x) { return Eigen::numext::digamma(x); }

// ψ'(x) = 1/x² + ψ'(x + 1) up to 12, then the asymptotic series in Bernoulli numbers.
double trigamma(double x) {
  double sum = 0;
  for (; x < 12; ++x) sum += 1 / (x * x);
  const double y = 1 / (x * x);
  const double series =
      1. / 6 -
      y * (1. / 30 - y * (1. / 42 - y * (1. / 30 - y * (5. / 66 - y * (691. / 2730 - y * (7. / 6))))));
  return sum + (1 + (0.5 + series / x) / x) / x;
}

namespace {

// log Γ(a) − (a − ½) log a + a − ½ log 2π, from a = 64 on: what follows is below 1e-16.
double stirling_remainder(double a) {
  const double y = 1 / (a * a);
  return (1. / 12 - y * (1. / 360 - y / 1260)) / a;
}

}  // namespace

double log_rising(double a, double x) {
  constexpr double most_factors = 32, large = 1e4;  // log Γ(1e4) has an error of 1e-11
  if (x == 0) return 0;
  if (x <= most_factors && x == std::floor(x)) {
    double sum = 0;
    for (double i = 0; i < x; ++i) sum += std::log(a + i);
    return sum;
  }
  if (a <= large) return log_gamma(a + x) - log_gamma(a);
  return (a - 0.5) * std::log1p(x / a) + x * (std::log(a + x) - 1) + stirling_remainder(a + x) -
         stirling_remainder(a);
}

double log_beta(double a, double b) { return log_gamma(a) + log_gamma(b) - log_gamma(a + b); }

double log_multigamma(Index d, double x) {
  const double log_pi = 1.1447298858494002;
  double sum = 0.25 * static_cast<double>(d * (d - 1)) * log_pi;
  for (Index i = 0; i < d; ++i) sum += log_gamma(x - 0.5 * static_cast<double>(i));
  return sum;
}

double multidigamma(Index d, double x) {
  double sum = 0;
  for (Index i = 0; i < d; ++i) sum += digamma(x - 0.5 * static_cast<double>(i));
  return sum;
}

}  // namespace bnpvi
