#include "observations/outer_features.h"

#include <cmath>

#include "observations/linalg.h"

namespace bnpvi {

void add_cells(const Vec& cell, Index n, double* phi, Index ld, Index offset) {
  const Index m = static_cast<Index>(cell.size());
  for (Index i = 0; i < n; ++i) {
    double* f = phi + i * ld;
    const double one = f[0];
    for (Index j = 0; j < m; ++j) f[offset + packed(j, j)] += cell[j] * one;
  }
}

void row_of_features(const double* phi, Index offset, Index m, const Vec& cell, double* v) {
  const double* f = phi + offset;
  const auto square = [&](Index i) { return f[packed(i, i)] - (cell.empty() ? 0 : cell[i] * phi[0]); };
  Index top = 0;
  for (Index i = 1; i < m; ++i)
    if (square(i) > square(top)) top = i;
  const double size = std::sqrt(square(top));
  for (Index i = 0; i < m; ++i) v[i] = !(size > 0) ? 0 : (i == top ? square(i) : f[packed(top, i)]) / size;
}

}  // namespace bnpvi
