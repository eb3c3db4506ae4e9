#include "networks/local_rounds.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "networks/bisection.h"
#include "networks/other_starts.h"

namespace bnpvi::networks {

namespace {

constexpr int bisections = 4;  // a guess
constexpr double soft = 0.8;   // share of a node's part that goes to the side of its half

// Whether one half nearly agrees with the nodes that have more link ends in a than in b, or with the others.
bool is_known(const Overlap& state, Index a, Index b, const std::vector<int>& nodes,
              const std::vector<int>& half) {
  std::size_t same = 0;
  for (int i : nodes) {
    double more = 0;
    for (const Ends& end : state.ends(i)) more += end.k == a ? end.value : end.k == b ? -end.value : 0;
    same += (more > 0) == std::binary_search(half.begin(), half.end(), i);
  }
  constexpr double all_but = 0.95;  // a guess
  return static_cast<double>(std::max(same, nodes.size() - same)) >
         all_but * static_cast<double>(nodes.size());
}

}  // namespace

Vec masses(const Overlap& state) {
  Vec out(static_cast<std::size_t>(state.k()));
  for (Index i = 0; i < state.links().n(); ++i)
    for (const Ends& end : state.ends(i)) out[end.k] += end.value;
  return out;
}

void drop_small(Overlap& state) {
  constexpr double least_ends = 0.5;  // link ends below which a community is dropped; a guess
  for (;;) {
    Vec mass = masses(state);
    for (Index k = 0; k < state.k(); ++k)
      if (!can_go(state.owner(), k)) mass[k] = HUGE_VAL;
    const Index least = std::min_element(mass.begin(), mass.end()) - mass.begin();
    if (state.k() == 1 || mass[least] >= least_ends) return;
    state.drop(least);
  }
}

std::vector<Index> ascending(const Vec& x) {
  std::vector<Index> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return x[a] < x[b]; });
  return order;
}

std::vector<ClosePair> close_pairs(const Overlap& state) {
  const Index k = state.k(), n = state.links().n();
  std::vector<std::vector<Ends>> ends;
  for (Index i = 0; i < n; ++i) ends.push_back(state.ends(i));
  Vec own(static_cast<std::size_t>(k));
  // Products of link ends of two communities, one entry for each node or link in which both occur.
  std::vector<ClosePair> met;
  const auto add = [&](const std::vector<Ends>& x, const std::vector<Ends>& y) {
    for (const Ends& a : x) {
      if (a.value <= 1e-6) continue;
      for (const Ends& b : y) {
        if (a.k == b.k) {
          own[a.k] += a.value * b.value;
        } else {
          met.push_back({std::min(a.k, b.k), std::max(a.k, b.k), a.value * b.value});
        }
      }
    }
  };
  const auto gather = [&] {
    std::stable_sort(met.begin(), met.end(), [](const ClosePair& x, const ClosePair& y) {
      return x.a < y.a || (x.a == y.a && x.b < y.b);
    });
    std::size_t kept = 0;
    for (std::size_t at = 0; at < met.size(); ++at) {
      if (kept > 0 && met[kept - 1].a == met[at].a && met[kept - 1].b == met[at].b) {
        met[kept - 1].score += met[at].score;
      } else {
        met[kept++] = met[at];
      }
    }
    met.resize(kept);
  };
  constexpr std::size_t most = 4000000;  // entries before equal ones are added up; a guess
  std::size_t full = most;
  const auto add_and_gather = [&](const std::vector<Ends>& x, const std::vector<Ends>& y) {
    add(x, y);
    if (met.size() < full) return;
    state.links().poll(0);
    gather();
    full = std::max(most, 2 * met.size());
  };
  const Links& links = state.links();
  for (Index i = 0; i < n; ++i) {
    links.poll(i);
    add_and_gather(ends[i], ends[i]);
  }
  for (std::size_t e = 0; e < links.from().size(); ++e) {
    links.poll(static_cast<Index>(e));
    add_and_gather(ends[links.from()[e]], ends[links.to()[e]]);
  }
  gather();
  const auto kept_apart = [&](const ClosePair& pair) {
    return !can_join(state.owner()[pair.a], state.owner()[pair.b]);
  };
  met.erase(std::remove_if(met.begin(), met.end(), kept_apart), met.end());
  for (ClosePair& pair : met) pair.score /= std::sqrt(1e-12 + own[pair.a] * own[pair.b]);
  std::stable_sort(met.begin(), met.end(),
                   [](const ClosePair& x, const ClosePair& y) { return x.score > y.score; });
  return met;
}

void LocalRounds::forget(Index k) {
  rounds_left_[k] = rounds_left_.back();
  rounds_left_.pop_back();
}

double LocalRounds::run(Overlap& state, std::uint64_t round, double least, const std::function<void()>& poll,
                        LapRecord& record) {
  least_ = least;
  poll_ = &poll;
  record_ = &record;
  rounds_left_.resize(static_cast<std::size_t>(state.k()), rounds_of_rest);
  for (int& left : rounds_left_) left = std::max(0, left - 1);
  double gain = 0;
  if (options_.births) gain += splits(state, round);
  if (options_.merges) gain += joins(state);
  if (options_.births && options_.merges) gain += divisions(state, round);
  if (options_.deletes) gain += drops(state);
  return gain;
}

double LocalRounds::splits(Overlap& state, std::uint64_t round) {
  LocalMoves& moves = *state.capabilities().local;
  // Members rather than all nodes with a part: in small or noisy networks the latter are most of all nodes.
  const auto members = members_of(state);
  double sum = 0;
  for (Index k = 0, last = state.k(); k < last; ++k) {
    if (rounds_left_[k] == 0) continue;
    (*poll_)();
    Stream stream(options_.seed, Purpose::birth_seeds, round, static_cast<std::uint64_t>(k));
    Division division{k, halves(state, members, state.owner(), k, stream)};
    if (division.leaves.empty()) continue;
    ++record_->births_tried;
    for (double share : {soft, 1.0}) {
      const double gain = moves.split_here(division, share, least_);
      if (gain == 0) continue;
      sum += gain;
      ++record_->births;
      rouse(k);
      rounds_left_.push_back(rounds_of_rest);
      break;
    }
  }
  return sum;
}

double LocalRounds::joins(Overlap& state) {
  constexpr int partners = 3;  // of a community, that are tried; a guess
  LocalMoves& moves = *state.capabilities().local;
  // Present number of each community, and how often it was tried.
  std::vector<Index> now(static_cast<std::size_t>(state.k())), was(now.size());
  std::iota(now.begin(), now.end(), 0);
  std::iota(was.begin(), was.end(), 0);
  std::vector<int> tried(now.size());
  double sum = 0;
  for (const ClosePair& pair : close_pairs(state)) {
    if (now[pair.a] < 0 || now[pair.b] < 0) continue;
    if (tried[pair.a] >= partners && tried[pair.b] >= partners) continue;
    const Index a = std::min(now[pair.a], now[pair.b]), b = std::max(now[pair.a], now[pair.b]);
    if (!can_join(state.owner()[a], state.owner()[b])) continue;
    if (rounds_left_[a] == 0 && rounds_left_[b] == 0) continue;
    (*poll_)();
    ++tried[pair.a];
    ++tried[pair.b];
    ++record_->merges_tried;
    const double gain = moves.merge_here(a, b, least_);
    if (gain == 0) continue;
    sum += gain;
    ++record_->merges;
    now[was[b]] = -1;
    now[was.back()] = was.back() == was[b] ? -1 : b;
    was[b] = was.back();
    was.pop_back();
    forget(b);
    rouse(a);
  }
  return sum;
}

double LocalRounds::divisions(Overlap& state, std::uint64_t round) {
  LocalMoves& moves = *state.capabilities().local;
  const auto members = members_of(state);
  std::vector<char> tried(static_cast<std::size_t>(state.k()));
  double sum = 0;
  for (const ClosePair& pair : close_pairs(state)) {
    if (tried[pair.a] || tried[pair.b] || (rounds_left_[pair.a] == 0 && rounds_left_[pair.b] == 0)) continue;
    if (state.owner()[pair.a] != state.owner()[pair.b]) continue;
    (*poll_)();
    tried[pair.a] = tried[pair.b] = 1;
    std::vector<int> nodes;
    const std::vector<int>&of_a = members[pair.a], &of_b = members[pair.b];
    std::set_union(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(nodes));
    Stream stream(options_.seed, Purpose::merge_target, round, static_cast<std::uint64_t>(pair.a));
    const std::vector<int> half = bisected(state.links(), nodes, bisections, stream);
    if (half.empty() || is_known(state, pair.a, pair.b, nodes, half)) continue;
    const double gain = moves.divide_here(pair.a, pair.b, half, soft, least_);
    if (gain == 0) continue;
    sum += gain;
    rouse(pair.a);
    rouse(pair.b);
  }
  return sum;
}

double LocalRounds::drops(Overlap& state) {
  LocalMoves& moves = *state.capabilities().local;
  double sum = 0;
  for (Index k = state.k() - 1; k >= 0 && state.k() > 1; --k) {
    if (rounds_left_[k] == 0 || !can_go(state.owner(), k)) continue;
    (*poll_)();
    ++record_->deletes_tried;
    const double gain = moves.drop_here(k, least_);
    if (gain == 0) continue;
    sum += gain;
    ++record_->deletes;
    forget(k);
  }
  return sum;
}

}  // namespace bnpvi::networks
