#include "inference/learn/running_state.h"

#include <algorithm>
#include <numeric>

namespace bnpvi {

std::vector<Index> RunningState::by_size() const {
  std::vector<Index> order(identity.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [this, n = p()](Index a, Index b) { return t[a * n] > t[b * n]; });
  return order;
}

void RunningState::keep(const std::vector<Index>& kept) {
  const Index n = p();
  Vec kept_t;
  std::vector<ClusterIdentity> kept_identity;
  for (Index j : kept) {
    kept_t.insert(kept_t.end(), t.begin() + j * n, t.begin() + (j + 1) * n);
    kept_identity.push_back(identity[j]);
  }
  t = std::move(kept_t);
  identity = std::move(kept_identity);
}

void RunningState::remove(const std::vector<bool>& gone) {
  std::vector<Index> kept;
  for (Index j = 0; j < k(); ++j)
    if (!gone[j]) kept.push_back(j);
  if (static_cast<Index>(kept.size()) < k()) keep(kept);
}

void RunningState::join(Index a, Index b) {
  const Index n = p();
  for (Index f = 0; f < n; ++f) t[a * n + f] += t[b * n + f];
  identity[a].last_seen = std::max(identity[a].last_seen, identity[b].last_seen);
}

void RunningState::identify(Index k) {
  while (this->k() < k) identity.push_back({next_id++, seen, seen});
}

}  // namespace bnpvi
