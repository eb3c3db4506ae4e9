// Loops over the rows of data on which a fitted model is evaluated.
#pragma once
#include <algorithm>

#include "observations/cluster_densities.h"
#include "r_convert.h"

namespace bnpvi {

/// Calls each(block, rows, n) for blocks of the rows that have a likelihood. `block` has the features of the
/// n rows `rows`. Blocks are distributed to the threads of the pool.
template <class Each>
void for_blocks(Query& q, Each each) {
  const std::vector<Index> rows = modelled_rows(q.data().starts, q.obs().capabilities().lag);
  const Index n = static_cast<Index>(rows.size());
  constexpr Index step = 256;  // rows in each task: a guess
  q.pool.run((n + step - 1) / step, [&](Index task) {
    q.pool.poll();
    const Index from = task * step, m = std::min(step, n - from);
    FeatureBlock block(q.obs(), q.data());
    for (Index begin = from; begin < from + m; begin += block.block_rows()) {
      const Index rows_here = std::min(block.block_rows(), from + m - begin);
      block.load(rows.data() + begin, rows_here);
      each(block, rows.data() + begin, rows_here);
    }
  });
}

/// Calls each(row, log_p, log_base) for every row that has a likelihood. log_p: log p(x | cluster) for each
/// cluster, without the base measure h(x); `each` may overwrite it. log_base: log h(x).
template <class Each>
void for_densities(Query& q, const ClusterDensities& densities, Each each) {
  const Index k = densities.k();
  for_blocks(q, [&](FeatureBlock& block, const Index* rows, Index n) {
    Vec log_p, base(static_cast<std::size_t>(n)), of_row(static_cast<std::size_t>(k));
    densities.of(block, log_p);
    base_of(q.obs()).log_base(q.data(), rows, n, base.data());
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < k; ++j) of_row[j] = log_p[j * n + i];
      each(rows[i], of_row, base[i]);
    }
  });
}

}  // namespace bnpvi
