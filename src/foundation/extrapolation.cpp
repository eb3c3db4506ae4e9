#include "foundation/extrapolation.h"

#include <cmath>

namespace bnpvi {

std::optional<Vec> extrapolated(const Vec& x0, const Vec& x1, const Vec& x2, double farthest) {
  double first = 0, second = 0;
  for (std::size_t i = 0; i < x0.size(); ++i) {
    const double r = x1[i] - x0[i], v = x2[i] - x1[i] - r;
    first += r * r;
    second += v * v;
  }
  const double s = std::sqrt(first / second);
  if (!(s > 1) || !std::isfinite(s)) return std::nullopt;
  Vec out(x0.size());
  for (std::size_t i = 0; i < x0.size(); ++i) {
    out[i] = x0[i] + 2 * s * (x1[i] - x0[i]) + s * s * (x2[i] - 2 * x1[i] + x0[i]);
    if (!(std::abs(out[i] - x2[i]) < farthest)) return std::nullopt;
  }
  return out;
}

}  // namespace bnpvi
