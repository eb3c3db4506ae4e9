#include "networks/modularity.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace bnpvi::networks {

namespace {

// A graph whose vertices are groups of nodes. Values are sums over both directions; that of a vertex with
// itself counts each link within twice.
struct Graph {
  std::vector<Index> start{0};
  std::vector<int> other;
  Vec value, degree;

  Index n() const { return static_cast<Index>(degree.size()); }
  void end_vertex() {
    start.push_back(static_cast<Index>(other.size()));
    degree.push_back(std::accumulate(value.begin() + start[start.size() - 2], value.end(), 0.0));
  }
};

Graph graph_of(const Links& links) {
  Graph out;
  for (Index i = 0; i < links.n(); ++i) {
    links.poll(i);
    for (const SparseRows* rows : {&links.out(), &links.in()})
      for (Index e = rows->start[i]; e < rows->start[i + 1]; ++e) {
        out.other.push_back(rows->other[e]);
        out.value.push_back(rows->value[e]);
      }
    out.end_vertex();
  }
  return out;
}

// Renumbers labels 0, 1, ... in the order in which they occur.
Index renumber(std::vector<int>& label) {
  std::vector<int> number(label.size(), -1);
  int k = 0;
  for (int& l : label) {
    if (number[l] < 0) number[l] = k++;
    l = number[l];
  }
  return k;
}

// The graph of groups, with sums of the values between them.
Graph joined(const Graph& g, const std::vector<int>& label, Index k) {
  std::vector<std::map<int, double>> to(static_cast<std::size_t>(k));
  for (Index i = 0; i < g.n(); ++i)
    for (Index e = g.start[i]; e < g.start[i + 1]; ++e) to[label[i]][label[g.other[e]]] += g.value[e];
  Graph out;
  for (const auto& row : to) {
    for (const auto& [other, value] : row) {
      out.other.push_back(other);
      out.value.push_back(value);
    }
    out.end_vertex();
  }
  return out;
}

// Moves vertices between groups until a round gains next to nothing; true when any has moved.
bool moved(const Graph& g, const Links& links, Stream& stream, std::vector<int>& label) {
  constexpr double least = 1e-7;  // of all values, that a round must gain
  const double total = std::accumulate(g.degree.begin(), g.degree.end(), 0.0);
  Vec of_group = g.degree, towards(g.degree.size(), 0.0);
  const std::vector<Index> order = shuffled(g.n(), stream);
  bool any = false;
  for (double gained = total; gained > least * total;) {
    gained = 0;
    for (Index i : order) {
      links.poll(i);
      const int own = label[i];
      const auto each = [&](auto f) {
        for (Index e = g.start[i]; e < g.start[i + 1]; ++e)
          if (g.other[e] != i) f(label[g.other[e]], g.value[e]);
      };
      each([&](int group, double value) { towards[group] += value; });
      of_group[own] -= g.degree[i];
      const auto gain = [&](int group) { return towards[group] - g.degree[i] * of_group[group] / total; };
      const double stays = gain(own);
      int best = own;
      double most = stays + least * g.degree[i];
      each([&](int group, double) {
        if (!(gain(group) > most)) return;
        most = gain(group);
        best = group;
      });
      each([&](int group, double) { towards[group] = 0; });
      of_group[best] += g.degree[i];
      if (best == own) continue;
      label[i] = best;
      gained += most - stays;
      any = true;
    }
  }
  return any;
}

}  // namespace

std::vector<int> modularity_groups(const Links& links, Stream& stream) {
  Graph g = graph_of(links);
  std::vector<int> of_node(static_cast<std::size_t>(links.n()));
  std::iota(of_node.begin(), of_node.end(), 0);
  const auto alone = std::find(g.degree.begin(), g.degree.end(), 0.0);
  for (Index i = 0; i < g.n(); ++i)
    if (g.degree[i] == 0) of_node[i] = static_cast<int>(alone - g.degree.begin());
  for (;;) {
    std::vector<int> label(static_cast<std::size_t>(g.n()));
    std::iota(label.begin(), label.end(), 0);
    if (!moved(g, links, stream, label)) break;
    const Index k = renumber(label);
    for (int& node : of_node) node = label[node];
    g = joined(g, label, k);
  }
  renumber(of_node);
  return of_node;
}

}  // namespace bnpvi::networks
