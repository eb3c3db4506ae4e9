#include "foundation/data.h"

#include <algorithm>
#include <numeric>

#include "foundation/random.h"

namespace bnpvi {

std::vector<Index> modelled_rows(const std::vector<Index>& starts, Index lag) {
  std::vector<Index> rows;
  rows.reserve(static_cast<std::size_t>(starts.back()));
  for (std::size_t g = 0; g + 1 < starts.size(); ++g)
    for (Index i = starts[g] + lag; i < starts[g + 1]; ++i) rows.push_back(i);
  return rows;
}

std::vector<std::vector<Index>> deal_batches(Index n_units, Index n_batches, unsigned long long seed) {
  std::vector<Index> order(static_cast<std::size_t>(n_units));
  std::iota(order.begin(), order.end(), Index{0});
  if (n_batches > 1) {
    Stream stream(seed, Purpose::batches);
    order = shuffled(n_units, stream);
  }
  std::vector<std::vector<Index>> batches(static_cast<std::size_t>(n_batches));
  std::vector<Index> batch_of(order.size());
  for (Index b = 0; b < n_batches; ++b) {
    const Index from = n_units * b / n_batches, to = n_units * (b + 1) / n_batches;
    batches[b].reserve(static_cast<std::size_t>(to - from));
    for (Index i = from; i < to; ++i) batch_of[order[i]] = b;
  }
  for (Index unit = 0; unit < n_units; ++unit) batches[batch_of[unit]].push_back(unit);
  return batches;
}

}  // namespace bnpvi
