#include "observations/responsibilities.h"

#include <algorithm>
#include <numeric>

#include "kernels/kernels.h"

namespace bnpvi {

double Responsibilities::get(Index row, Index j) const {
  if (!sparse) return value[row * k + j];
  for (Index i = 0; i < width; ++i)
    if (cluster[row * width + i] == j) return value[row * width + i];
  return 0;
}

void select_largest(Index n, Index k, const double* w, Index width, double* kept, int* column) {
  kernels().largest_rows(n, k, w, k, width, column);
  for (Index i = 0; i < n; ++i, w += k, kept += width, column += width) {
    std::sort(column, column + width);
    for (Index l = 0; l < width; ++l) kept[l] = w[column[l]];
  }
}

namespace {

void fill_values(const Vec& w, Responsibilities& out, double& entropy) {
  const Index n = out.n, m = out.width;
  out.value.resize(static_cast<std::size_t>(n * m));
  out.row_entropy.resize(static_cast<std::size_t>(n));
  kernels().responsibility_rows(n, m, w.data(), m, negligible, out.value.data(), m, out.row_entropy.data());
  entropy += std::accumulate(out.row_entropy.begin(), out.row_entropy.end(), 0.0);
}

}  // namespace

void normalise(Index n, Index k, const Vec& w, Index width, Responsibilities& out, double& entropy) {
  out.n = n;
  out.k = k;
  out.sparse = width > 0 && width < k;
  out.width = out.sparse ? width : k;
  if (!out.sparse) return fill_values(w, out, entropy);
  out.log_weight.resize(static_cast<std::size_t>(n * width));
  out.cluster.resize(out.log_weight.size());
  select_largest(n, k, w.data(), width, out.log_weight.data(), out.cluster.data());
  normalise_support(out, entropy);
}

void normalise_support(Responsibilities& out, double& entropy) { fill_values(out.log_weight, out, entropy); }

}  // namespace bnpvi
