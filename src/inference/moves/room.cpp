#include "inference/moves/room.h"

#include <algorithm>
#include <map>
#include <set>

namespace bnpvi {

std::vector<Index> Room::gone() const {
  std::vector<Index> out = dropped;
  for (const auto& pair : joined) out.push_back(pair.second);
  std::sort(out.begin(), out.end());
  return out;
}

// Removes the last cluster first, so that the numbers of the others stay valid.
Changes Room::changes(Changes out) const {
  const std::vector<Index> all = gone();
  for (auto j = all.rbegin(); j != all.rend(); ++j) {
    const auto pair =
        std::find_if(joined.begin(), joined.end(), [j](const auto& p) { return p.second == *j; });
    if (pair == joined.end())
      out.drop(*j);
    else
      out.merge(pair->first, pair->second);
  }
  return out;
}

Index Room::number_of(Index j) const {
  const std::vector<Index> all = gone();
  return j - (std::lower_bound(all.begin(), all.end(), j) - all.begin());
}

std::vector<Index> idle_clusters(const State& state) {
  const Summary& s = state.total;
  std::vector<Index> out;
  for (Index j = 0; j < s.k; ++j)
    if (s.size(j) < 0.5 && !has_settled(state, j) && !s.is_last_of_class(j)) out.push_back(j);
  std::stable_sort(out.begin(), out.end(), [&](Index x, Index y) { return s.size(x) < s.size(y); });
  std::map<int, Index> left;
  for (int owner : s.owner) ++left[owner];
  const auto lasts = [&](Index j) { return s.owner_of(j) > 0 && --left[s.owner_of(j)] == 0; };
  out.erase(std::remove_if(out.begin(), out.end(), lasts), out.end());
  return out;
}

Room room_for(Index m, const State& state, const std::vector<std::pair<Index, Index>>& pairs,
              const std::vector<Index>& kept) {
  Room out;
  std::set<Index> used(kept.begin(), kept.end());
  for (Index j : idle_clusters(state))
    if (out.size() < m && used.insert(j).second) out.dropped.push_back(j);
  for (const auto& [a, b] : pairs) {
    if (out.size() >= m || used.count(a) + used.count(b) > 0) continue;
    used.insert({a, b});
    out.joined.push_back({a, b});
  }
  return out;
}

}  // namespace bnpvi
