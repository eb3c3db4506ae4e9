#include "inference/moves/groups_to_divide.h"

#include <algorithm>

namespace bnpvi {

std::vector<std::vector<std::uint64_t>> groups_to_divide(const MoveContext& c, const State& state,
                                                         double least, const Vec& gains) {
  const Vec sizes = state.total.sizes();
  const auto one_owner = [&](const ClusterGroup& group) {
    return std::all_of(group.begin(), group.end(),
                       [&](Index j) { return state.total.owner_of(j) == state.total.owner_of(group[0]); });
  };
  const auto worth_trying = [&](const ClusterGroup& group, const Vec& own) {
    return *std::min_element(own.begin(), own.end()) >= least && may_join(state, group) && one_owner(group) &&
           c.memory.resplit_worth_trying(group, own);
  };
  std::vector<std::vector<std::uint64_t>> out;
  for (Index m = 2; m <= 3 && out.empty(); ++m)
    for (const ClusterGroup& group :
         affordable(neighbour_groups(state.k(), gains, m), sizes, c.options.max_births, worth_trying))
      out.push_back(c.memory.ids(group));
  return out;
}

}  // namespace bnpvi
