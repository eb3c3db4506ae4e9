#include "inference/moves/neighbour_groups.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

namespace bnpvi {

namespace {

constexpr Index nearest_pairs = 2;  // a guess
constexpr double most_mass = 2;     // mass of the groups of a lap, as a multiple of that of the data

}  // namespace

std::vector<Index> nearest(Index a, Index k, const Vec& loss, Index m) {
  std::vector<Index> out;
  for (Index b = 0; b < k; ++b)
    if (b != a && loss[a * k + b] > -INFINITY) out.push_back(b);
  const Index n = std::min(m, static_cast<Index>(out.size()));
  std::partial_sort(out.begin(), out.begin() + n, out.end(),
                    [&](Index x, Index y) { return loss[a * k + x] > loss[a * k + y]; });
  out.resize(static_cast<std::size_t>(n));
  return out;
}

std::vector<ClusterGroup> neighbour_groups(Index k, const Vec& loss, Index m) {
  std::vector<std::pair<double, ClusterGroup>> groups;
  for (Index a = 0; a < k; ++a) {
    const std::vector<Index> others = nearest(a, k, loss, m == 2 ? nearest_pairs : m - 1);
    for (Index first = 0; first + m - 1 <= static_cast<Index>(others.size()); ++first) {
      ClusterGroup group(others.begin() + first, others.begin() + first + m - 1);
      double all = 0;
      for (Index b : group) all += loss[a * k + b];
      group.push_back(a);
      std::sort(group.begin(), group.end());
      groups.emplace_back(-all, std::move(group));
    }
  }
  std::sort(groups.begin(), groups.end());
  std::vector<ClusterGroup> out;
  std::set<ClusterGroup> seen;
  for (auto& group : groups)
    if (seen.insert(group.second).second) out.push_back(std::move(group.second));
  return out;
}

Vec sizes_of(const ClusterGroup& group, const Vec& sizes) {
  Vec out;
  for (Index j : group) out.push_back(sizes[j]);
  return out;
}

std::vector<ClusterGroup> affordable(
    const std::vector<ClusterGroup>& groups, const Vec& sizes, Index most,
    const std::function<bool(const ClusterGroup&, const Vec&)>& worth_trying) {
  double left = most_mass * std::accumulate(sizes.begin(), sizes.end(), 0.0);
  std::vector<ClusterGroup> out;
  for (const ClusterGroup& group : groups) {
    const Vec own = sizes_of(group, sizes);
    if (!worth_trying(group, own)) continue;
    left -= std::accumulate(own.begin(), own.end(), 0.0);
    if ((left < 0 && !out.empty()) || static_cast<Index>(out.size()) == most) break;
    out.push_back(group);
  }
  return out;
}

}  // namespace bnpvi
