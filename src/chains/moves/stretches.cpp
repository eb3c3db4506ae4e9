#include "chains/moves/stretches.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "inference/start/seeding.h"
#include "observations/feature_block.h"
#include "observations/shape_lattice.h"

namespace bnpvi::chains {

namespace {

constexpr Index most_sampled = 4096;                        // stretches; this and the next three are guesses
constexpr Index most_integrated = 128;                      // candidates, if evidence integrates over a shape
constexpr Index most_doubles = Index{1} << 22;              // of their statistics
constexpr int most_rounds = 20;                             // of k-means
constexpr double least_sharpness = 1, most_sharpness = 30;  // measured (inst/design/decisions.md)
constexpr double infinity = std::numeric_limits<double>::infinity();

void add(Vec& to, const Vec& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

// Σ φ(x) of one stretch at a time, each row times its weight; missing cells have their expectation under the
// weights w (p) of a state, unless w is empty.
class Statistic {
 public:
  Statistic(const ObsModel& obs, const Dataset& data, const Vec& w)
      : w_(w),
        p_(static_cast<std::size_t>(obs.n_features())),
        block_(obs, data),
        rows_(static_cast<std::size_t>(block_.block_rows())) {}

  Vec operator()(const Stretch& s) {
    Vec t(p_, 0.0);
    for (Index from = s.begin; from < s.end; from += block_.block_rows()) {
      const Index n = std::min(block_.block_rows(), s.end - from);
      std::iota(rows_.begin(), rows_.begin() + n, from);
      block_.load(rows_.data(), n);
      block_.add_rows(t.data(), data_or_null(w_));
    }
    return t;
  }

 private:
  const Vec& w_;
  std::size_t p_;
  FeatureBlock block_;
  std::vector<Index> rows_;
};

// Weights ∇Λ of the centres, by which each stretch is assigned to the centre that explains it best.
class Centres {
 public:
  Centres(const ObsModel& obs, const std::vector<Vec>& t) {
    for (const Vec& c : t) {
      weights_.emplace_back(c.size());
      obs.weights(c.data(), weights_.back().data());
    }
  }

  std::size_t nearest(const Vec& t) const {
    std::size_t best = 0;
    double highest = -infinity;
    for (std::size_t j = 0; j < weights_.size(); ++j) {
      const double x = std::inner_product(t.begin(), t.end(), weights_[j].begin(), 0.0);
      if (x > highest) highest = x, best = j;
    }
    return best;
  }

 private:
  std::vector<Vec> weights_;
};

std::vector<Vec> choose_seeds(const ObsModel& obs, const std::vector<Vec>& t, Index k, Stream& stream,
                              Pool& pool) {
  const FewPoints enough;
  std::vector<Index> candidate(t.size());
  std::iota(candidate.begin(), candidate.end(), Index{0});
  obs.log_evidence(t[0].data());
  if (const Index most = most_integrated; enough.any_integral() && most < static_cast<Index>(t.size())) {
    draw_to_front(candidate, most, stream);
    candidate.resize(static_cast<std::size_t>(most));
  }
  Vec own, chance;
  for (Index s : candidate) {
    own.push_back(obs.log_evidence(t[s].data()));
    chance.push_back(t[s][0]);
  }
  Vec loss(candidate.size(), infinity);
  std::vector<Vec> seeds;
  for (Index i; static_cast<Index>(seeds.size()) < k && (i = draw(chance, stream)) >= 0;) {
    pool.poll();
    seeds.push_back(t[candidate[i]]);
    for (std::size_t s = 0; s < candidate.size(); ++s) {
      Vec both = seeds.back();
      add(both, t[candidate[s]]);
      loss[s] = std::min(loss[s], own[s] + own[i] - obs.log_evidence(both.data()));
      chance[s] = std::max(0.0, loss[s]);
    }
    chance[i] = loss[i] = 0;
  }
  return seeds;
}

// K-means on the statistics t; centres without stretches are removed.
std::vector<Vec> improve(const ObsModel& obs, const std::vector<Vec>& t, std::vector<Vec> centres,
                         Pool& pool) {
  std::vector<std::size_t> group(t.size(), t.size());
  for (int round = 0; round < most_rounds; ++round) {
    pool.poll();
    const Centres now(obs, centres);
    std::vector<Vec> next(centres.size(), Vec(t[0].size(), 0.0));
    bool changed = false;
    for (std::size_t s = 0; s < t.size(); ++s) {
      const std::size_t best = now.nearest(t[s]);
      changed |= group[s] != best;
      group[s] = best;
      add(next[best], t[s]);
    }
    if (!changed) break;
    centres.swap(next);
    for (std::size_t j = centres.size(); j-- > 0;) {
      if (centres[j][0] > 0) continue;
      centres.erase(centres.begin() + static_cast<Index>(j));
      for (std::size_t& g : group)
        if (g > j) --g;
    }
  }
  return centres;
}

}  // namespace

StretchClusters cluster_stretches(const ObsModel& obs, const Dataset& data,
                                  const std::vector<Stretch>& stretches, const std::vector<Stretch>& parts,
                                  const Vec& w, Index k, Stream& stream, Pool& pool) {
  Statistic statistic(obs, data, w);
  const Index n = static_cast<Index>(stretches.size()), p = obs.n_features();
  const Index m = std::min({n, most_sampled, std::max<Index>(64, most_doubles / p)});
  std::vector<Stretch> sample = stretches;
  if (m < n) draw_to_front(sample, m, stream);
  const double sharpness = draw_sharpness(least_sharpness, most_sharpness, stream);
  std::vector<Vec> t;
  for (Index i = 0; i < m; ++i) {
    pool.poll();
    t.push_back(sharpened(statistic(sample[i]), sharpness));
  }
  const Centres centres(obs, improve(obs, t, choose_seeds(obs, t, k, stream, pool), pool));

  StretchClusters out;
  std::vector<Index> number;
  for (const Stretch& s : parts) {
    pool.poll();
    const Vec own = statistic(s);
    const std::size_t best = centres.nearest(own);
    if (number.size() <= best) number.resize(best + 1, -1);
    if (number[best] < 0) {
      number[best] = out.k++;
      out.t.resize(static_cast<std::size_t>(out.k * p), 0.0);
    }
    out.group.push_back(number[best]);
    for (Index i = 0; i < p; ++i) out.t[number[best] * p + i] += own[i];
  }
  return out;
}

void join_alike(const ObsModel& obs, StretchClusters& clusters, Index least) {
  const Index p = obs.n_features();
  const auto t = [&](Index j) { return clusters.t.begin() + j * p; };
  Vec own;
  for (Index j = 0; j < clusters.k; ++j) own.push_back(used_evidence(obs, &*t(j)));
  while (clusters.k > least) {
    double highest = 0;
    Index a = -1, b = -1;
    for (Index i = 0; i < clusters.k; ++i)
      for (Index j = i + 1; j < clusters.k; ++j) {
        Vec both(t(i), t(i) + p);
        for (Index f = 0; f < p; ++f) both[f] += t(j)[f];
        const double gain = used_evidence(obs, both.data()) - own[i] - own[j];
        if (gain > highest) highest = gain, a = i, b = j;
      }
    if (a < 0) return;
    own[a] += own[b] + highest;
    for (Index f = 0; f < p; ++f) t(a)[f] += t(b)[f];
    own.erase(own.begin() + b);
    clusters.t.erase(t(b), t(b + 1));
    for (Index& g : clusters.group) g = g == b ? a : g - (g > b);
    --clusters.k;
  }
}

void add_by_label(const ObsModel& obs, const Dataset& data, const Stretch& stretch, const int* label,
                  const Vec& w, std::vector<Vec>& by_label) {
  Statistic statistic(obs, data, w);
  const Index n = stretch.end - stretch.begin;
  for (Index from = 0, to; from < n; from = to) {
    for (to = from + 1; to < n && label[to] == label[from];) ++to;
    if (label[from] < 0) continue;
    const Vec t = statistic({stretch.begin + from, stretch.begin + to});
    Vec& sum = by_label[label[from]];
    sum.resize(t.size(), 0.0);
    add(sum, t);
  }
}

namespace {

// For each row of `block`: the end of the rows that are cut off with it, when the block is cut at this row
// (all later rows, or its subtree).
std::vector<Index> ends_of_cuts(const int* back, const Stretch& block) {
  std::vector<Index> end(static_cast<std::size_t>(block.end - block.begin), block.end);
  if (!back) return end;
  for (Index i = block.begin; i < block.end; ++i) end[i - block.begin] = i + 1;
  for (Index i = block.end - 1; i > block.begin; --i) {
    const Index parent = i - back[i] - block.begin;
    if (back[i] > 0 && parent >= 0) end[parent] = std::max(end[parent], end[i - block.begin]);
  }
  return end;
}

}  // namespace

Stretch subtree_around(const int* back, const Stretch& all, Index row, Index most) {
  const std::vector<Index> end = ends_of_cuts(back, all);
  while (back[row] > 0 && end[row - back[row] - all.begin] - (row - back[row]) <= most) row -= back[row];
  return {row, std::min(end[row - all.begin], row + most)};
}

BestCut best_cut(const ObsModel& obs, const Dataset& data, const Stretch& block, const Vec& w) {
  Statistic statistic(obs, data, w);
  const Index n = block.end - block.begin, p = obs.n_features();
  const Vec all = statistic(block);
  std::vector<Vec> before{Vec(all.size(), 0.0)};  // statistics of the rows before each row of the block
  for (Index i = block.begin; i + 1 < block.end; ++i) {
    before.push_back(statistic({i, i + 1}));
    for (Index f = 0; f < p; ++f) before.back()[f] += before[before.size() - 2][f];
  }
  before.push_back(all);
  BestCut best{1, all, {block}, {0}};
  double highest = used_evidence(obs, all.data());
  const std::vector<Index> ends = ends_of_cuts(data.back, block);
  Vec outer(all.size()), inner(all.size());
  for (Index cut = 1; cut < n; ++cut) {
    const Index end = ends[cut] - block.begin;
    for (Index f = 0; f < p; ++f) {
      inner[f] = before[end][f] - before[cut][f];
      outer[f] = before[cut][f] + (all[f] - before[end][f]);
    }
    const double value = used_evidence(obs, outer.data()) + used_evidence(obs, inner.data());
    if (value <= highest) continue;
    highest = value;
    best = {2, outer, {{block.begin, block.begin + cut}, {block.begin + cut, block.begin + end}}, {0, 1}};
    best.t.insert(best.t.end(), inner.begin(), inner.end());
    if (end == n) continue;
    best.stretches.push_back({block.begin + end, block.end});
    best.part.push_back(0);
  }
  return best;
}

}  // namespace bnpvi::chains
