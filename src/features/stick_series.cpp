#include "features/stick_series.h"

#include <cmath>

#include "foundation/special.h"

namespace bnpvi::features {

namespace {

constexpr int most_terms = 500;       // then the integral: its error falls as 1 / m²
constexpr double negligible = 1e-13;  // a term, as share of the first
constexpr int most_panels = 100;      // each multiplies m by e

// Gauss–Legendre of five points on [0, 1].
constexpr double node[] = {0.046910077030668, 0.2307653449471585, 0.5, 0.7692346550528415, 0.953089922969332};
constexpr double node_weight[] = {0.1184634425280945, 0.2393143352496832, 0.2844444444444444,
                                  0.2393143352496832, 0.1184634425280945};

double trigamma(double x) { return (1 + trigamma_remainder(x)) / x; }

// E[π_k^m] and its logarithmic derivatives at one m.
struct Moments {
  Vec moment, by_first, by_second;
};

void add_terms(const Moments& at, const Vec& weight, double complement_factor, double dilogarithm_factor,
               StickSeries& out) {
  const std::size_t n = at.moment.size();
  const double last = dilogarithm_factor * at.moment[n - 1];
  out.dilogarithm += last;
  double sum = 0;
  for (std::size_t i = n; i-- > 0;) {
    if (i > 0) {
      out.complement[i] -= complement_factor * at.moment[i];
      sum -= weight[i] * complement_factor * at.moment[i];
    }
    out.complement_gradient[2 * i] += sum * at.by_first[i];
    out.complement_gradient[2 * i + 1] += sum * at.by_second[i];
    out.dilogarithm_gradient[2 * i] += last * at.by_first[i];
    out.dilogarithm_gradient[2 * i + 1] += last * at.by_second[i];
  }
}

// The moments at any m ≥ 0.
Moments moments_at(const Vec& tau, double m) {
  const std::size_t n = tau.size() / 2;
  Moments out{Vec(n), Vec(n), Vec(n)};
  double log_moment = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = tau[2 * i], b = tau[2 * i + 1];
    log_moment += log_gamma_difference(a + m, b) - log_gamma_difference(a, b);
    out.moment[i] = std::exp(log_moment);
    out.by_first[i] = digamma_difference(a + m, b) - digamma_difference(a, b);
    out.by_second[i] = digamma_difference(a + b, m);
  }
  return out;
}

}  // namespace

StickSeries stick_series(const Vec& tau, const Vec& weight) {
  const std::size_t n = tau.size() / 2;
  StickSeries out{Vec(n), 0, Vec(2 * n), Vec(2 * n)};
  const double first = tau[0] + tau[1];
  Moments at{Vec(n), Vec(n), Vec(n)};
  double product = 1;
  for (std::size_t i = 0; i < n; ++i) {
    const double a = tau[2 * i], sum = a + tau[2 * i + 1];
    at.moment[i] = product *= a / sum;
    at.by_first[i] = 1 / a - 1 / sum;
    at.by_second[i] = -1 / sum;
  }
  const std::size_t largest = n > 1 ? 1 : 0;
  const double small = negligible * at.moment[largest];
  for (int m = 1; m <= most_terms; ++m) {
    add_terms(at, weight, 1.0 / m, 1.0 / m / m, out);
    if (!(at.moment[largest] / m / (largest == 0 ? m : 1) > small)) break;
    double ratio = 1;
    for (std::size_t i = 0; i < n; ++i) {
      const double a = tau[2 * i] + m, sum = a + tau[2 * i + 1];
      ratio *= a / sum;
      at.moment[i] *= ratio;
      at.by_first[i] += 1 / a - 1 / sum;
      at.by_second[i] -= 1 / sum;
    }
    if (m < most_terms) continue;
    // Σ_{j>m} f(j) is the integral of f from m + ½ on, here over u = log j.
    for (int panel = 0; panel < most_panels; ++panel) {
      double size = 0;
      for (int i = 0; i < 5; ++i) {
        const double j = (most_terms + 0.5) * std::exp(panel + node[i]);
        const Moments there = moments_at(tau, j);
        add_terms(there, weight, node_weight[i], node_weight[i] / j, out);
        size = there.moment[largest] / (largest == 0 ? j : 1);
      }
      if (!(size > small)) break;
    }
  }
  const double tail = trigamma(first);
  out.complement[0] = digamma_difference(tau[1], tau[0]);
  out.complement_gradient[0] -= weight[0] * tail;
  out.complement_gradient[1] += weight[0] * (trigamma(tau[1]) - tail);
  return out;
}

}  // namespace bnpvi::features
