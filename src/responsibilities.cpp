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

namespace {

// Moves the `width` largest of each row of w, in cluster order, to kept (n × width); ties go to the
// smaller cluster number.
void select_largest(Index n, Index k, const Vec& w, Index width, Vec& kept, std::vector<int>& cluster) {
  std::vector<int> order(static_cast<std::size_t>(k));
  kept.resize(static_cast<std::size_t>(n * width));
  cluster.resize(static_cast<std::size_t>(n * width));
  for (Index i = 0; i < n; ++i) {
    const double* row = w.data() + i * k;
    std::iota(order.begin(), order.end(), 0);
    std::nth_element(order.begin(), order.begin() + (width - 1), order.end(),
                     [row](int a, int b) { return row[a] > row[b] || (row[a] == row[b] && a < b); });
    std::sort(order.begin(), order.begin() + width);
    for (Index l = 0; l < width; ++l) {
      cluster[i * width + l] = order[l];
      kept[i * width + l] = row[order[l]];
    }
  }
}

}  // namespace

double normalise(Index n, Index k, Vec& w, Index width, Responsibilities& out, double& entropy) {
  out.n = n;
  out.k = k;
  out.sparse = width > 0 && width < k;
  out.width = out.sparse ? width : k;
  if (out.sparse) {
    Vec kept;
    select_largest(n, k, w, width, kept, out.cluster);
    w.swap(kept);
  }
  const Index m = out.width;
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
