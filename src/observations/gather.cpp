#include "observations/gather.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bnpvi {

namespace {

constexpr Index tile_rows =
    32;  // rows of `out` that stay in the first-level cache while their columns are filled: a guess

}  // namespace

Columns::Columns(const Vec& centre, const Vec& unit, const Vec& rounding) : centre(centre), unit(unit) {
  for (double u : unit) log_jacobian -= std::log(u);
  if (std::all_of(rounding.begin(), rounding.end(), [](double width) { return width == 0; })) return;
  for (std::size_t j = 0; j < rounding.size(); ++j) {
    const double width = rounding[j] / unit[j];
    cell.push_back(width * width / 12);
  }
}

ColumnChange::ColumnChange(const Columns& from, const Columns& to) {
  for (Index j = 0; j < to.size(); ++j) {
    scale.push_back(from.unit[j] / to.unit[j]);
    shift.push_back((from.centre[j] - to.centre[j]) / to.unit[j]);
  }
}

void gather(const Dataset& data, const Columns& columns, const Index* rows, Index n, Index shift, double* out,
            Index ld) {
  if (data.sparse()) throw std::invalid_argument("this observation model needs dense data");
  for (Index first = 0; first < n; first += tile_rows) {
    const Index end = std::min(first + tile_rows, n);
    for (Index j = 0; j < columns.size(); ++j) {
      const double* x = data.dense + j * data.n;
      const double centre = columns.centre[j], inverse = 1 / columns.unit[j];
      for (Index i = first; i < end; ++i) out[i * ld + j] = (x[rows[i] - shift] - centre) * inverse;
    }
  }
}

double bring_near(Index n, double* v) {
  constexpr double farthest = 1e130;
  double most = 0;
  for (Index i = 0; i < n; ++i) most = std::max(most, std::abs(v[i]));
  if (!(most > farthest)) return 1;
  const double inverse = farthest / most;
  for (Index i = 0; i < n; ++i) v[i] *= inverse;
  return inverse;
}

void gather_linear(const Dataset& data, const Index* rows, Index n, double* out, Index ld) {
  for (Index i = 0; i < n; ++i) out[i * ld] = 1;
  if (!data.sparse()) {
    for (Index j = 0; j < data.d; ++j)
      for (Index i = 0; i < n; ++i) out[i * ld + 1 + j] = data.dense[j * data.n + rows[i]];
    return;
  }
  for (Index i = 0; i < n; ++i) {
    double* x = out + i * ld + 1;
    std::fill(x, x + data.d, 0.0);
    for (int s = data.row_start[rows[i]]; s < data.row_start[rows[i] + 1]; ++s)
      x[data.column[s]] = data.value[s];
  }
}

}  // namespace bnpvi
