#include "mixtures/known_labels.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bnpvi::mixtures {

void exclude_forbidden(const FeatureBlock& block, Index first, Index n, const std::vector<int>& owner,
                       double* score) {
  constexpr double below = 1e4;  // below the best score of a row: exp(−below) is 0
  if (owner.empty() || !block.labelled()) return;
  const Index m = static_cast<Index>(owner.size());
  for (Index i = 0; i < n; ++i, score += m) {
    double best = -INFINITY;
    for (Index j = 0; j < m; ++j)
      if (block.allows(first + i, owner[j])) best = std::max(best, score[j]);
    if (best == -INFINITY) throw std::logic_error("a row may belong to none of the clusters");
    for (Index j = 0; j < m; ++j)
      if (!block.allows(first + i, owner[j])) score[j] = best - below;
  }
}

bool one_owner(const Summary& s, const std::vector<Index>& clusters) {
  return std::all_of(clusters.begin(), clusters.end(),
                     [&](Index j) { return s.owner_of(j) == s.owner_of(clusters.front()); });
}

}  // namespace bnpvi::mixtures
