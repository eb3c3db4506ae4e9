#include "inference/moves/near_order.h"

#include <algorithm>

#include "inference/learn/alloc_capabilities.h"

namespace bnpvi {

namespace {

// û of the sticks, in this order of the clusters, that give the clusters their
// weights under `globals`.
Vec sticks_in_order(const AllocModel& alloc, const Globals& globals, const std::vector<Index>& order) {
  const Vec weights = alloc.mean_weights(globals);
  Vec out;
  double rest = weights.back();
  for (auto j = order.rbegin(); j != order.rend(); ++j) {
    rest += weights[*j];
    out.push_back(weights[*j] / rest);
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

Globals near_order(const AllocModel& alloc, const Globals& globals, const std::vector<Index>& order) {
  const Index k = static_cast<Index>(order.size()), sticks = alloc.has_sticks() ? k : 0,
              all = stored_in_u(alloc, k), width = (all - sticks) / k;
  if (width < 2 || static_cast<Index>(globals.u.size()) != all) return {};
  Globals out;
  const Vec u = sticks > 0 || alloc.grouped() ? sticks_in_order(alloc, globals, order) : Vec();
  if (sticks > 0) {
    out.u = u;
    for (Index j : order) out.omega.push_back(globals.omega[j]);
  }
  const Index of_pair = sticks > 0 ? (stored_in_u(alloc, 2) - 2) / 2 - (stored_in_u(alloc, 1) - 1) : 0;
  const auto append = [&](Index from, Index to) {
    out.u.insert(out.u.end(), globals.u.begin() + from, globals.u.begin() + to);
  };
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Index row = sticks + order[i] * width;
    for (Index l : order)
      if (of_pair > 0) append(row + l * of_pair, row + (l + 1) * of_pair);
    append(row + k * of_pair, row + width);
    if (sticks == 0 && !u.empty()) out.u[out.u.size() - static_cast<std::size_t>(width)] = u[i];
  }
  return out;
}

}  // namespace bnpvi
