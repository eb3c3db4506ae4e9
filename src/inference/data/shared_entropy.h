// The loss of entropy of responsibilities when two clusters are joined.
#pragma once
#include "foundation/special.h"
#include "foundation/types.h"

namespace bnpvi {

/// The entropy that a row of weight 1 with responsibilities x and y loses when the two clusters are joined:
/// g(x + y) − g(x) − g(y) ≥ 0 with g(r) = r log r.
inline double shared_entropy(double x, double y) { return x_log_x(x + y) - x_log_x(x) - x_log_x(y); }

/// The entropy that all rows lose when clusters a and b are joined: the sum of shared_entropy(r_ia, r_ib)
/// over the rows i of r (n × k).
inline double shared_entropy(const Vec& r, Index k, Index a, Index b) {
  double sum = 0;
  for (std::size_t row = 0; row < r.size(); row += static_cast<std::size_t>(k)) {
    const double x = r[row + a], y = r[row + b];
    if (x > 0 && y > 0) sum += shared_entropy(x, y);
  }
  return sum;
}

}  // namespace bnpvi
