#include "foundation/bessel.h"

#include <array>
#include <cmath>

#include "foundation/special.h"

namespace bnpvi {

namespace {

constexpr double far = 20;  // for z ≥ 20 the asymptotic series is exact to rounding

constexpr int power_terms = 64, asymptotic_terms = 40;

// Ratio of term k to term k − 1 of both series, without the power of z, for orders 0 and 1. They are
// tabulated because divisions would otherwise take most of the time.
struct Ratios {
  std::array<std::array<double, power_terms>, 2> power;
  std::array<std::array<double, asymptotic_terms>, 2> asymptotic;

  constexpr Ratios() : power(), asymptotic() {
    for (int order = 0; order < 2; ++order) {
      for (int k = 1; k < power_terms; ++k) power[order][k] = 1. / (k * (k + order));
      for (int k = 1; k < asymptotic_terms; ++k)
        asymptotic[order][k] = ((2. * k - 1) * (2. * k - 1) - 4. * order) / (8. * k);
    }
  }
};
constexpr Ratios ratios;

// Σ_k (z²/4)^k / (k! (k + order)!)
double power_series(double z, int order) {
  const double y = 0.25 * z * z;
  double term = 1, sum = 1;
  for (int k = 1; term > 1e-17 * sum && k < power_terms; ++k) {
    term *= y * ratios.power[order][k];
    sum += term;
  }
  return sum;
}

// I(z) e^(−z) √(2πz) = Σ_k Π_{j ≤ k} ((2j − 1)² − 4 order²) / (8 j z), as long as terms fall.
double asymptotic_series(double z, int order) {
  const double inverse = 1 / z;
  double term = 1, sum = 1;
  for (int k = 1; k < asymptotic_terms; ++k) {
    const double next = term * (ratios.asymptotic[order][k] * inverse);
    if (std::abs(next) < 1e-17) break;
    term = next;
    sum += term;
  }
  return sum;
}

}  // namespace

double log_scaled_bessel(double z) {
  if (z < far) return std::log(power_series(z, 0)) - z;
  return std::log(asymptotic_series(z, 0)) - 0.5 * (log_2pi + std::log(z));
}

double bessel_slope(double z) {
  if (z < far) return 0.5 * power_series(z, 1) / power_series(z, 0);
  return asymptotic_series(z, 1) / asymptotic_series(z, 0) / z;
}

}  // namespace bnpvi
