#include "networks/bisection.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace bnpvi::networks {

namespace {

// The links among some nodes, with new numbers of the nodes.
struct Subgraph {
  std::vector<Index> start{0};
  std::vector<int> other;
  Vec value, degree;
  double total = 0;  // Σ degree
};

Subgraph subgraph(const Links& links, const std::vector<int>& nodes) {
  const auto number = [&](int node) {
    const auto at = std::lower_bound(nodes.begin(), nodes.end(), node);
    return at != nodes.end() && *at == node ? static_cast<int>(at - nodes.begin()) : -1;
  };
  Subgraph out;
  for (int node : nodes) {
    links.poll(node);
    double degree = 0;
    for (const SparseRows* rows : {&links.out(), &links.in()})
      for (Index e = rows->start[node]; e < rows->start[node + 1]; ++e) {
        const int other = number(rows->other[e]);
        if (other < 0) continue;
        out.other.push_back(other);
        out.value.push_back(rows->value[e]);
        degree += rows->value[e];
      }
    out.start.push_back(static_cast<Index>(out.other.size()));
    out.degree.push_back(degree);
    out.total += degree;
  }
  return out;
}

// Sides of all nodes, by breadth-first search from two seeds at once; nodes reached from neither are on side
// 0.
std::vector<char> grown(const Subgraph& g, Stream& stream) {
  const Index n = static_cast<Index>(g.degree.size());
  std::vector<char> side(static_cast<std::size_t>(n), 2);
  std::vector<int> queue;
  const auto take = [&](Index i, char s) {
    if (side[i] != 2) return;
    side[i] = s;
    queue.push_back(static_cast<int>(i));
  };
  const Index first = stream.index(n);
  Index second = stream.index(n - 1);
  second += second >= first;
  take(first, 0);
  take(second, 1);
  for (std::size_t at = 0; at < queue.size(); ++at)
    for (Index e = g.start[queue[at]]; e < g.start[queue[at] + 1]; ++e) take(g.other[e], side[queue[at]]);
  for (char& s : side)
    if (s == 2) s = 0;
  return side;
}

// Moves nodes to the other side while that gains; returns the modularity reached, up to a factor.
double settled(const Links& links, const Subgraph& g, std::vector<char>& side) {
  constexpr int max_sweeps = 20;  // a guess
  double mass[2] = {0, 0};
  for (std::size_t i = 0; i < side.size(); ++i) mass[int(side[i])] += g.degree[i];
  for (int sweep = 0; sweep < max_sweeps; ++sweep) {
    bool moved = false;
    for (std::size_t i = 0; i < side.size(); ++i) {
      links.poll(static_cast<Index>(i));
      if (g.degree[i] == 0) continue;
      double to[2] = {0, 0};
      for (Index e = g.start[i]; e < g.start[i + 1]; ++e) to[int(side[g.other[e]])] += g.value[e];
      const int own = side[i], two = 1 - own;
      const double gain = to[two] - to[own] - g.degree[i] * (mass[two] - (mass[own] - g.degree[i])) / g.total;
      if (gain <= 1e-12) continue;
      side[i] = static_cast<char>(two);
      mass[own] -= g.degree[i];
      mass[two] += g.degree[i];
      moved = true;
    }
    if (!moved) break;
  }
  double within = 0;
  for (std::size_t i = 0; i < side.size(); ++i)
    for (Index e = g.start[i]; e < g.start[i + 1]; ++e)
      if (side[i] == side[g.other[e]]) within += g.value[e];
  return within - (mass[0] * mass[0] + mass[1] * mass[1]) / g.total;
}

}  // namespace

std::vector<int> bisected(const Links& links, const std::vector<int>& nodes, int tries, Stream& stream) {
  std::vector<int> out;
  if (nodes.size() < 2) return out;
  const Subgraph g = subgraph(links, nodes);
  if (g.total == 0) return out;
  std::vector<char> best;
  double most = -HUGE_VAL;
  for (int t = 0; t < tries; ++t) {
    std::vector<char> side = grown(g, stream);
    const double found = settled(links, g, side);
    if (found > most) {
      most = found;
      best = std::move(side);
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (best[i]) out.push_back(nodes[i]);
  if (out.size() == nodes.size()) out.clear();
  return out;
}

Groups::Groups(const Links& links, int tries, Stream& stream)
    : links_(&links), tries_(tries), stream_(&stream) {
  std::vector<int> all(static_cast<std::size_t>(links.n()));
  std::iota(all.begin(), all.end(), 0);
  groups_.push_back(made(std::move(all)));
}

Groups::Group Groups::made(std::vector<int> nodes) const {
  Group out{std::move(nodes), {}, 0};
  out.half = bisected(*links_, out.nodes, tries_, *stream_);
  for (int i : out.nodes)
    for (const SparseRows* rows : {&links_->out(), &links_->in()})
      out.ends += static_cast<double>(rows->start[i + 1] - rows->start[i]);
  return out;
}

void Groups::part(std::size_t of, const std::vector<int>& leaves) {
  std::vector<int> rest;
  const std::vector<int>& nodes = groups_[of].nodes;
  std::set_difference(nodes.begin(), nodes.end(), leaves.begin(), leaves.end(), std::back_inserter(rest));
  groups_[of] = made(std::move(rest));
  groups_.push_back(made(leaves));
}

bool Groups::divide(Division& done) {
  const auto rank = [](const Group& g) { return g.half.empty() ? -1 : g.ends; };
  const auto most = std::max_element(groups_.begin(), groups_.end(),
                                     [&](const Group& a, const Group& b) { return rank(a) < rank(b); });
  if (most->half.empty()) return false;
  done = {most - groups_.begin(), most->half};
  part(static_cast<std::size_t>(done.of), done.leaves);
  return true;
}

void Groups::cut() {
  const auto most = std::max_element(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
    return a.nodes.size() < b.nodes.size();
  });
  const std::vector<int> leaves(most->nodes.begin() + (most->nodes.size() + 1) / 2, most->nodes.end());
  part(static_cast<std::size_t>(most - groups_.begin()), leaves);
}

std::vector<int> Groups::labels() const {
  std::vector<int> out(static_cast<std::size_t>(links_->n()));
  for (std::size_t g = 0; g < groups_.size(); ++g)
    for (int i : groups_[g].nodes) out[i] = static_cast<int>(g);
  return out;
}

std::vector<int> divided(const Links& links, Index k, int tries, Stream& stream) {
  Groups groups(links, tries, stream);
  Division done;
  while (groups.k() < k)
    if (!groups.divide(done)) groups.cut();
  return groups.labels();
}

}  // namespace bnpvi::networks
