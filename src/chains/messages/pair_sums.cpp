#include "chains/messages/pair_sums.h"

#include <algorithm>

#include "kernels/kernels.h"

namespace bnpvi::chains {

namespace {

constexpr Index gathered_rows = 1024;  // of which those of a position are copied: a guess

}  // namespace

void add_pairs(const Chain& chain, Index n, const int* position, const double* from, const double* to,
               double* sums) {
  const Index k = chain.k;
  if (!position) return kernels().add_product_tn(n, k, k, from, k, to, k, sums, k);
  const Index room = std::min(n, gathered_rows) * k;
  Vec from_rows(static_cast<std::size_t>(room)), to_rows(from_rows.size());  // in the order of positions
  std::vector<Index> begin;                                                  // of each position
  for (; n > 0;
       n -= gathered_rows, position += gathered_rows, from += gathered_rows * k, to += gathered_rows * k) {
    const Index m = std::min(n, gathered_rows);
    begin.assign(static_cast<std::size_t>(chain.positions() + 1), 0);
    for (Index t = 0; t < m; ++t) ++begin[position[t] + 1];
    for (Index p = 0; p < chain.positions(); ++p) begin[p + 1] += begin[p];
    std::vector<Index> next(begin.begin(), begin.end() - 1);
    for (Index t = 0; t < m; ++t) {
      const Index at = next[position[t]]++;
      std::copy_n(from + t * k, k, from_rows.begin() + at * k);
      std::copy_n(to + t * k, k, to_rows.begin() + at * k);
    }
    for (Index p = 0; p < chain.positions(); ++p)
      if (begin[p] < begin[p + 1])
        kernels().add_product_tn(begin[p + 1] - begin[p], k, k, from_rows.data() + begin[p] * k, k,
                                 to_rows.data() + begin[p] * k, k, sums + chain.block(p), k);
  }
}

double add_transitions(const Chain& chain, const std::vector<Vec>& without_factor, const Vec& log_space,
                       Summary& to) {
  const Index k = chain.k;
  Vec pair(chain.log_transition.size(), 0.0);
  const double entropy = add_transitions(chain, without_factor, log_space, pair);
  for (Index p = 0; p < chain.positions(); ++p)
    for (Index i = 0; i < k; ++i)
      for (Index j = 0; j < k; ++j) to.of_pair(i, j, p) += pair[chain.block(p) + i * k + j];
  return entropy;
}

}  // namespace bnpvi::chains
