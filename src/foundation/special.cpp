#include "foundation/special.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

// std::lgamma writes the global `signgam`; lgamma_r is the same function without that data race. Windows has
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

namespace {

constexpr double large = 12;  // for x ≥ 12 n_terms terms of the asymptotic series are exact to rounding
constexpr int n_terms = 7;
constexpr double bernoulli[n_terms] = {1. / 6,  -1. / 30,     1. / 42, -1. / 30,
                                       5. / 66, -691. / 2730, 7. / 6};  // B_2, B_4, ...

// The coefficients of Stirling's series for log Γ, B_2k / (2k (2k − 1)).
constexpr double stirling[n_terms] = {1. / (2 * 1) * bernoulli[0],  1. / (4 * 3) * bernoulli[1],
                                      1. / (6 * 5) * bernoulli[2],  1. / (8 * 7) * bernoulli[3],
                                      1. / (10 * 9) * bernoulli[4], 1. / (12 * 11) * bernoulli[5],
                                      1. / (14 * 13) * bernoulli[6]};

// Σ_k weight(2k) B_2k x^(1−2k)
template <class Weight>
double odd_series(double x, Weight weight) {
  const double y = 1 / (x * x);
  double sum = 0;
  for (int k = n_terms; k > 0; --k) sum = sum * y + weight(2.0 * k) * bernoulli[k - 1];
  return sum / x;
}

// x⁻ᵐ − (x + d)⁻ᵐ for m = 1, 2, 3, ...: sums and products of positive numbers only.
class PowerDifferences {
 public:
  PowerDifferences(double x, double d) : p_(1 / x), q_(1 / (x + d)), first_(d * p_ * q_), now_(first_) {}
  double operator*() const { return now_; }
  void operator++() {  // pᵐ⁺¹ − qᵐ⁺¹ = p (pᵐ − qᵐ) + qᵐ (p − q)
    power_ *= q_;
    now_ = p_ * now_ + power_ * first_;
  }

 private:
  double p_, q_, first_, now_, power_ = 1;
};

// Negative numbers are refused, as the recurrences add 1 to x until it reaches `large`, which would never
// happen from, say, −1e300.
void require_from_0(double x) {
  if (x < 0) throw std::domain_error("a special function of a negative number: numbers broke down");
}

// The coefficients B_2k / 2k of the asymptotic series of ψ.
constexpr double digamma_series[n_terms] = {1. / 12,  -1. / 120,     1. / 252, -1. / 240,
                                            1. / 132, -691. / 32760, 1. / 12};

}  // namespace

// ψ(x) = ψ(x + 1) − 1/x up to 10, from where ψ(x) = log x − 1/(2x) − Σ_k B_2k / (2k x²ᵏ). Below 0 by
// reflection, ψ(x) = ψ(1 − x) − π / tan(πx): sums that should be 0 may round to less. Infinite at its poles.
double digamma(double x) {
  if (x <= 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::infinity();
    constexpr double pi = 3.14159265358979323846;
    return digamma(1 - x) - pi / std::tan(pi * x);
  }
  double passed = 0;
  for (; x < 10; ++x) passed += 1 / x;
  const double y = 1 / (x * x);
  double sum = 0;
  for (int k = n_terms; k-- > 0;) sum = sum * y + digamma_series[k];
  return std::log(x) - 0.5 / x - sum * y - passed;
}

double log_gamma_difference(double x, double d) {
  require_from_0(x);
  if (x < large && d >= x) return log_gamma(x) - log_gamma(x + d);
  double sum = 0;
  for (; x < large; ++x) sum += std::log1p(d / x);
  sum += d - (x - 0.5) * std::log1p(d / x) - d * std::log(x + d);
  PowerDifferences difference(x, d);
  for (int k = 1; k <= n_terms; ++k, ++difference, ++difference)
    sum += bernoulli[k - 1] / (2 * k * (2 * k - 1)) * *difference;
  return sum;
}

double digamma_difference(double x, double d) {
  require_from_0(x);
  double sum = 0;
  for (; x < large; ++x) sum -= d / (x + d) / x;
  PowerDifferences difference(x, d);
  sum -= std::log1p(d / x) + 0.5 * *difference;
  for (int k = 1; k <= n_terms; ++k) {
    ++difference;
    sum -= bernoulli[k - 1] / (2 * k) * *difference;
    ++difference;
  }
  return sum;
}

double log_beta(double a, double b) {
  if (a > b) std::swap(a, b);
  if (b < large) return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
  if (a < large) return log_gamma(a) + log_gamma_difference(b, a);
  const double half_log_2_pi = 0.91893853320467274;
  const auto weight = [](double m) { return 1 / (m * (m - 1)); };
  return half_log_2_pi - 0.5 * std::log(b) - (a - 0.5) * std::log1p(b / a) - b * std::log1p(a / b) +
         odd_series(a, weight) + odd_series(b, weight) - odd_series(a + b, weight);
}

double log_gamma_remainder(double x) {
  if (x < large) return x + log_gamma(x) - x * digamma(x);
  const double half_log_2_pi_e = 1.4189385332046727;
  return half_log_2_pi_e - 0.5 * std::log(x) + odd_series(x, [](double m) { return 1 / (m - 1); });
}

double stirling_remainder(double x) {
  if (x < large) return log_gamma(x) - x * std::log(x) + x;
  const double half_log_2_pi = 0.91893853320467274;
  const double y = 1 / (x * x);
  double sum = 0;
  for (int k = n_terms; k > 0; --k) sum = sum * y + stirling[k - 1];
  return half_log_2_pi - 0.5 * std::log(x) + sum / x;
}

// By the recurrence ψ'(x) = 1/x² + ψ'(x + 1) until the asymptotic series applies.
double trigamma_remainder(double x) {
  require_from_0(x);
  double sum = 0, y = x;
  for (; y < large; ++y) sum += x / y / y;
  const double excess = (0.5 + odd_series(y, [](double) { return 1.0; })) / y;  // yψ'(y) − 1
  return y == x ? excess : sum + x / y * (1 + excess) - 1;
}

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
