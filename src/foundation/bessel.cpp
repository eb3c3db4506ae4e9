#include "foundation/bessel.h"

#include <cmath>

#include "foundation/special.h"

namespace bnpvi {

namespace {

constexpr double far = 20;  // from here on the asymptotic series is exact to rounding

// Σ_k (z²/4)^k / (k! (k + order)!)
double power_series(double z, int order) {
  const double y = 0.25 * z * z;
  double term = 1, sum = 1;
  for (int k = 1; term > 1e-17 * sum; ++k) {
    term *= y / (k * (k + order));
    sum += term;
  }
  return sum;
}

// I(z) e^(−z) √(2πz) = Σ_k Π_{j ≤ k} ((2j − 1)² − 4 order²) / (8 j z), as long as terms fall.
double asymptotic_series(double z, int order) {
  double term = 1, sum = 1;
  for (int k = 1; k < 40; ++k) {
    const double odd = 2 * k - 1, next = term * (odd * odd - 4.0 * order * order) / (8 * k * z);
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
