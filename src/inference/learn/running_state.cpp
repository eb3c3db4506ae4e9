#include "inference/learn/running_state.h"

#include <algorithm>
#include <numeric>

namespace bnpvi {

std::vector<Index> RunningState::by_size() const {
  std::vector<Index> order(identity.size());
  if (order.empty()) return order;
  std::iota(order.begin(), order.end(), Index{0});
  const std::size_t p = t.size() / identity.size();
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return t[a * p] > t[b * p]; });
  return order;
}

void RunningState::keep(const std::vector<Index>& kept) {
  Vec kept_t;
  std::vector<ClusterIdentity> kept_identity;
  const std::ptrdiff_t p = identity.empty() ? 0 : static_cast<std::ptrdiff_t>(t.size() / identity.size());
  for (Index j : kept) {
    kept_t.insert(kept_t.end(), t.begin() + j * p, t.begin() + (j + 1) * p);
    kept_identity.push_back(identity[j]);
  }
  t = std::move(kept_t);
  identity = std::move(kept_identity);
}

}  // namespace bnpvi
