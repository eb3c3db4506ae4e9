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
  for (Index i = 0; i < n; ++i, w += k, kept += width, column += width) {
    const auto larger = [w](int a, int b) { return w[a] > w[b] || (w[a] == w[b] && a < b); };
    std::iota(column, column + width, 0);
    std::make_heap(column, column + width, larger);  // the least of those kept comes first
    for (Index j = width; j < k; ++j) {
      if (!(w[j] > w[column[0]])) continue;
      std::pop_heap(column, column + width, larger);
      column[width - 1] = static_cast<int>(j);
      std::push_heap(column, column + width, larger);
    }
    std::sort(column, column + width);
    for (Index l = 0; l < width; ++l) kept[l] = w[column[l]];
  }
}

double normalise(Index n, Index k, Vec& w, Index width, Responsibilities& out, double& entropy) {
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
  return normalise_kept(w, out, entropy);
}

double normalise_kept(Vec& w, Responsibilities& out, double& entropy) {
  const Index n = out.n, m = out.width;
  double total = 0;
  for (Index i = 0; i < n; ++i) {
    double* row = w.data() + i * m;
    const double top = *std::max_element(row, row + m);
    for (Index j = 0; j < m; ++j) row[j] -= top;
    total += top;
  }
  out.value.assign(w.begin(), w.begin() + n * m);
  Vec log_norm(static_cast<std::size_t>(n));
  kernels().softmax_rows(n, m, out.value.data(), m, negligible, log_norm.data());
  double h = 0;
  for (Index i = 0; i < n; ++i) {
    double expected = 0;
    for (Index j = 0; j < m; ++j) {
      const double r = out.value[i * m + j];
      if (r > 0) expected += r * w[i * m + j];
    }
    h += log_norm[i] - expected;
    total += log_norm[i];
  }
  entropy += h;
  return total;
}

}  // namespace bnpvi
