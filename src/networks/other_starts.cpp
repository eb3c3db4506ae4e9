#include "networks/other_starts.h"

#include <algorithm>

#include "networks/partition_search.h"

namespace bnpvi::networks {

namespace {

constexpr int bisections = 4;  // a guess

// Labels by membership; communities without any node with a label are open.
OwnedLabels labels_of(const std::vector<std::vector<int>>& members, const Owners& owner, const Links& links) {
  OwnedLabels out;
  out.label.resize(static_cast<std::size_t>(links.n()));
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (members[k].empty()) continue;
    bool known = false;
    for (int i : members[k]) {
      out.label[i] = static_cast<int>(out.owner.size());
      known = known || links.has_label(i);
    }
    out.owner.push_back(known ? owner[k] : 0);
  }
  return out;
}

Partition partition_of(const Overlap& state, const std::vector<std::vector<int>>& members,
                       const Owners& owner) {
  constexpr double gamma = 1;  // for a proposal; the bound decides in the end
  OwnedLabels start = labels_of(members, owner, state.links());
  return Partition(state.links(), *state.blocks(), gamma, std::move(start.label), nullptr,
                   std::move(start.owner));
}

}  // namespace

std::vector<std::vector<int>> members_of(const Overlap& state) {
  std::vector<std::vector<int>> out(static_cast<std::size_t>(state.k()));
  for (Index i = 0; i < state.links().n(); ++i) out[state.main_community(i)].push_back(static_cast<int>(i));
  return out;
}

std::vector<int> halves(const Overlap& state, const std::vector<std::vector<int>>& members,
                        const Owners& owner, Index k, Stream& stream) {
  if (!state.blocks()) return bisected(state.links(), members[k], bisections, stream);
  std::vector<int> best;
  if (members[k].size() < 2) return best;
  const Partition now = partition_of(state, members, owner);
  const Index of = now.labels()[members[k].front()], made = now.k();
  double most = -HUGE_VAL;
  for (int t = 0; t < bisections; ++t) {
    Partition p = now;
    const double gain = p.divide(of, made, stream);
    if (p.k() <= made || gain <= most) continue;
    most = gain;
    best = p.members(made);
  }
  return best;
}

Shares softened(const OwnedLabels& labels, double own) {
  const std::size_t n = labels.label.size(), k = labels.owner.size();
  Shares out{static_cast<Index>(k), Vec(n * k, (1 - own) / static_cast<double>(k)), labels.owner};
  for (std::size_t i = 0; i < n; ++i) out.weight[i * k + labels.label[i]] += own;
  return out;
}

bool grow_groups(Overlap& state, Groups& groups, Index k) {
  std::vector<Division> some;
  const auto follow = [&] {
    if (!some.empty()) state.split(some, 1);
    some.clear();
  };
  bool divided = true;
  Division next;
  while (groups.k() < k && (divided = groups.divide(next))) {
    // Of divisions at once each is of another community.
    const bool again =
        std::any_of(some.begin(), some.end(), [&](const Division& d) { return d.of == next.of; });
    if (again || next.of >= state.k()) follow();
    some.push_back(next);
  }
  follow();
  return divided;
}

OwnedLabels disturbed(const Overlap& state, Index kind, Stream& stream) {
  std::vector<std::vector<int>> members = members_of(state);
  Owners owner = state.owner();
  const Links& links = state.links();
  const auto join = [&](Index a, Index b) {
    std::vector<int> both;
    std::merge(members[a].begin(), members[a].end(), members[b].begin(), members[b].end(),
               std::back_inserter(both));
    members[a] = std::move(both);
    members[b].clear();
    owner[a] = owner_of_both(owner[a], owner[b]);
  };
  const auto join_some = [&](Index most) {
    OwnedLabels now = labels_of(members, owner, links);
    std::vector<int>& label = now.label;
    owner = std::move(now.owner);
    std::vector<std::vector<int>> kept;
    for (auto& nodes : members)
      if (!nodes.empty()) kept.push_back(std::move(nodes));
    members = std::move(kept);
    for (Index t = 0; t < most && links.n_links() > 0; ++t) {
      // A link between two communities says which to join: those with many links are joined often.
      for (int tries = 0; tries < 50; ++tries) {
        const Index e = stream.index(links.n_links());
        const int a = label[links.from()[e]], b = label[links.to()[e]];
        if (a == b || members[a].empty() || members[b].empty() || !can_join(owner[a], owner[b])) continue;
        for (int i : members[b]) label[i] = a;
        join(a, b);
        break;
      }
    }
  };
  const auto split_some = [&](Index most) {
    const Index k = static_cast<Index>(members.size());
    std::vector<Index> order = shuffled(k, stream);
    for (Index t = 0; t < std::min(most, k); ++t) {
      const std::vector<int> nodes = members[order[t]];
      const std::vector<int> leaves = halves(state, members, owner, order[t], stream);
      if (leaves.empty()) continue;
      std::vector<int> rest;
      std::set_difference(nodes.begin(), nodes.end(), leaves.begin(), leaves.end(), std::back_inserter(rest));
      members[order[t]] = std::move(rest);
      members.push_back(leaves);
      owner.push_back(owner[order[t]]);
    }
  };
  const Index k = static_cast<Index>(members.size());
  switch (kind % 4) {
    case 0:
      join_some(k / 2);
      break;
    case 1:
      join_some(1);
      split_some(1);
      break;
    case 2:
      split_some(k);
      break;
    default:
      break;
  }
  return labels_of(members, owner, links);
}

OwnedLabels best_partition(const Overlap& state, std::uint64_t seed, Pool& pool) {
  SearchOptions options;
  options.seed = seed;
  options.patience = 5;  // laps; a guess
  PartitionSearch search(partition_of(state, members_of(state), state.owner()), options, pool);
  Course course;
  drive(search, course, options, pool);
  return {search.partition().labels(), search.partition().owners()};
}

}  // namespace bnpvi::networks
