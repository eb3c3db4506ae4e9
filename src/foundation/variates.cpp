#include "foundation/variates.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "foundation/special.h"

namespace bnpvi {

namespace {

// The logarithm of a uniform number from (0, 1].
double log_uniform(Stream& stream) { return std::log1p(-stream.uniform()); }

// For shapes ≥ 1. Accepts when log U is below x²/2 + d (1 − v + log v) = −x⁴/(108 d) up to higher powers of
// 1/d. For large d that leading term is used, since the difference would lose its digits.
double draw_log_gamma_of_large(double shape, Stream& stream) {
  constexpr double large = 1e6;
  const double d = shape - 1.0 / 3, c = 1 / (3 * std::sqrt(d));
  for (;;) {
    const double x = draw_normal(stream), root = 1 + c * x, square = x * x;
    if (root <= 0) continue;
    const double log_v = 3 * std::log1p(c * x);
    const double accepted =
        d > large ? -square * square / (108 * d) : 0.5 * square + d * (1 - root * root * root + log_v);
    if (log_uniform(stream) < accepted || accepted == 0) return std::log(d) + log_v;
  }
}

}  // namespace

double draw_normal(Stream& stream) {
  const double radius = std::sqrt(-2 * log_uniform(stream));
  return radius * std::cos(std::exp(log_2pi) * stream.uniform());
}

double draw_log_gamma(double shape, Stream& stream) {
  if (!(shape >= 0)) throw std::domain_error("a gamma variate without a shape: numbers broke down");
  if (shape >= 1) return draw_log_gamma_of_large(shape, stream);
  const double above = draw_log_gamma_of_large(shape + 1, stream);
  return above + log_uniform(stream) / shape;
}

double draw_gamma(double shape, double rate, Stream& stream) {
  return std::exp(draw_log_gamma(shape, stream) - std::log(rate));
}

LogBeta draw_log_beta(double a, double b, Stream& stream) {
  const double x = draw_log_gamma(a, stream), y = draw_log_gamma(b, stream);
  return {-log_1p_exp(y - x), -log_1p_exp(x - y)};
}

Vec draw_log_dirichlet(const Vec& weight, Stream& stream) {
  Vec out;
  for (double w : weight) out.push_back(draw_log_gamma(w, stream));
  const double top = out.empty() ? 0 : *std::max_element(out.begin(), out.end());
  double sum = 0;
  for (double x : out) sum += std::exp(x - top);
  for (double& x : out) x -= top + std::log(sum);
  return out;
}

double draw_von_mises(double concentration, Stream& stream) {
  constexpr double pi = 3.14159265358979324, large = 1e6;  // above, it is normal to six digits
  if (concentration > large) return draw_normal(stream) / std::sqrt(concentration);
  if (concentration < 1e-8) return pi * (2 * stream.uniform() - 1);
  const double tau = 1 + std::sqrt(1 + 4 * concentration * concentration);
  const double rho = (tau - std::sqrt(2 * tau)) / (2 * concentration), r = (1 + rho * rho) / (2 * rho);
  for (;;) {
    const double z = std::cos(pi * stream.uniform()), f = (1 + r * z) / (r + z), c = concentration * (r - f);
    const double u = stream.uniform(), sign = stream.uniform() < 0.5 ? -1 : 1;
    if (c * (2 - c) > u || std::log(c) + 1 - c >= std::log(u))
      return sign * std::acos(std::min(std::max(f, -1.0), 1.0));
  }
}

Index draw_binomial(Index n, double p, Stream& stream) {
  Index out = 0;
  for (Index i = 0; i < n; ++i) out += draw_bernoulli(p, stream);
  return out;
}

}  // namespace bnpvi
