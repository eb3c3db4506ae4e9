#include "inference/moves/neighbours.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace bnpvi {

Neighbours nearest_clusters(const Summary& effective, const Weights& weights, const Vec& log_pi, Index width,
                            Pool& pool) {
  constexpr Index at_once = 64;  // clusters per task: a guess
  const Index k = weights.k, p = weights.p;
  Neighbours out{k, width, std::vector<int>(static_cast<std::size_t>(k * width))};
  pool.run((k + at_once - 1) / at_once, [&](Index task) {
    pool.poll();
    const Index first = task * at_once, n = std::min(at_once, k - first);
    Vec mean(static_cast<std::size_t>(n * p)), score(static_cast<std::size_t>(n * k)), kept;
    for (Index j = 0; j < n; ++j) {
      const double* t = effective.t(first + j);
      const double scale = 1 / std::max(t[0], 1e-10);
      for (Index i = 0; i < p; ++i) mean[j * p + i] = scale * t[i];
    }
    kernels().product_nt(n, k, p, mean.data(), p, weights.w.data(), p, score.data(), k);
    for (Index j = 0; j < n; ++j)
      for (Index l = 0; l < k; ++l) score[j * k + l] += log_pi[l];
    kept.resize(static_cast<std::size_t>(n * width));
    select_largest(n, k, score.data(), width, kept.data(), out.cluster.data() + first * width);
  });
  return out;
}

}  // namespace bnpvi
