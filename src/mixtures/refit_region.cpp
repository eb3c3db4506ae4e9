#include "mixtures/refit_region.h"

#include <algorithm>

#include "foundation/special.h"

namespace bnpvi::mixtures {

RefitRegion region_of(const TouchedRows& rows, const std::vector<Index>& near, Index k, const Target& group,
                      const Target& around, double least) {
  constexpr int none = -2, nearby = -1;  // else: the place of the cluster in the group
  std::vector<int> place(static_cast<std::size_t>(k), none);
  for (Index j : around) place[j] = nearby;
  for (std::size_t l = 0; l < group.size(); ++l) place[group[l]] = static_cast<int>(l);
  RefitRegion out;
  out.mass.all = false;
  out.mass.expected = rows.expected;
  for (Index j : group)
    if (rows.expected) out.mass.cluster.push_back(rows.at_visit[j]);
  Vec own(group.size());
  for (Index n : near) {
    double mass = 0, of_others = 0;
    std::fill(own.begin(), own.end(), 0.0);
    for (Index e = rows.offset[n]; e < rows.offset[n + 1]; ++e) {
      const int at = place[rows.cluster[e]];
      if (at >= 0)
        mass += own[at] = rows.value[e];
      else if (at == nearby)
        of_others += rows.value[e];
    }
    if (mass < least) {
      if (mass + of_others >= least) out.others.push_back(n);
      continue;
    }
    const double weight = rows.weight[n];
    out.own.push_back(n);
    out.mass.rows.push_back(rows.rows[n]);
    out.mass.mass.push_back(weight * mass);
    if (group.size() > 1) {
      out.entropy += weight * x_log_x(mass);
      for (double r : own) out.entropy -= weight * x_log_x(r);
    }
    if (!rows.expected) continue;
    for (double r : own) out.mass.by_cluster.push_back(weight * r);
  }
  return out;
}

}  // namespace bnpvi::mixtures
