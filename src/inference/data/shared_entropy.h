// The entropy of responsibilities that is lost when two clusters become one.
#pragma once
#include "foundation/special.h"
#include "foundation/types.h"

namespace bnpvi {

/// g(x + y) − g(x) − g(y) with g(r) = r log r, of a row of weight 1 with responsibilities x and y; ≥ 0.
inline double shared_entropy(double x, double y) { return x_log_x(x + y) - x_log_x(x) - x_log_x(y); }

/// Σ_i of it for columns a and b of r, n × k.
inline double shared_entropy(const Vec& r, Index k, Index a, Index b) {
  double sum = 0;
  for (std::size_t row = 0; row < r.size(); row += static_cast<std::size_t>(k)) {
    const double x = r[row + a], y = r[row + b];
    if (x > 0 && y > 0) sum += shared_entropy(x, y);
  }
  return sum;
}

}  // namespace bnpvi
