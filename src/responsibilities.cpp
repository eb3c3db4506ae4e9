#include "responsibilities.h"

#include <algorithm>
#include <numeric>

#include "kernels.h"

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

void normalise(Index n, Index k, Vec& w, Index width, Responsibilities& out, double& entropy) {
  out.n = n;
  out.k = k;
  out.sparse = width > 0 && width < k;
  out.width = out.sparse ? width : k;
  if (out.sparse) {
    Vec kept(static_cast<std::size_t>(n * width));
    out.cluster.resize(kept.size());
    select_largest(n, k, w.data(), width, kept.data(), out.cluster.data());
    w.swap(kept);
  }
  normalise_kept(w, out, entropy);
}

void normalise_kept(const Vec& w, Responsibilities& out, double& entropy) {
  const Index n = out.n, m = out.width;
  out.value.resize(static_cast<std::size_t>(n * m));
  Vec h(static_cast<std::size_t>(n));
  kernels().responsibility_rows(n, m, w.data(), m, negligible, out.value.data(), m, h.data());
  entropy += std::accumulate(h.begin(), h.end(), 0.0);
}

}  // namespace bnpvi
