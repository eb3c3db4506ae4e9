#include "hmm_segments.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "feature_block.h"

namespace bnpvi {

void fill_statistics(const ObsModel& obs, const Dataset& data, std::vector<Stretch>& stretches, Pool& pool) {
  FeatureBlock block(obs, data);
  std::vector<Index> rows(static_cast<std::size_t>(block.block_rows()));
  const Vec ones(rows.size(), 1.0);
  for (Stretch& s : stretches) {
    pool.poll();
    s.t.assign(static_cast<std::size_t>(obs.n_features()), 0.0);
    for (Index from = s.begin; from < s.end; from += block.block_rows()) {
      const Index n = std::min(block.block_rows(), s.end - from);
      std::iota(rows.begin(), rows.begin() + n, from);
      block.load(rows.data(), n);
      block.add_weighted(ones.data(), s.t.data());
    }
  }
}

namespace {

void add(Vec& to, const Vec& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

double dot(const Vec& a, const Vec& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

Index draw(const Vec& weight, Stream& stream) {
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
  if (!(total > 0)) return -1;
  double u = stream.uniform() * total;
  Index last = -1;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (weight[i] <= 0) continue;
    last = static_cast<Index>(i);
    if ((u -= weight[i]) < 0) break;
  }
  return last;
}

}  // namespace

std::vector<Index> cluster_stretches(const ObsModel& obs, const std::vector<Stretch>& stretches, Index k,
                                     Stream& stream, Pool& pool) {
  constexpr int most_rounds = 20;
  const std::size_t n = stretches.size();
  std::vector<Vec> centre;
  Vec own(n), loss(n, std::numeric_limits<double>::infinity()), chance(n), w(stretches[0].t.size());
  for (std::size_t i = 0; i < n; ++i) {
    own[i] = obs.log_evidence(stretches[i].t.data());
    chance[i] = stretches[i].t[0];
  }
  for (Index i; static_cast<Index>(centre.size()) < k && (i = draw(chance, stream)) >= 0;) {
    pool.poll();
    centre.push_back(stretches[i].t);
    for (std::size_t s = 0; s < n; ++s) {
      Vec both = stretches[i].t;
      add(both, stretches[s].t);
      loss[s] = std::min(loss[s], own[s] + own[i] - obs.log_evidence(both.data()));
      chance[s] = std::max(0.0, loss[s]);
    }
    chance[i] = loss[i] = 0;
  }
  std::vector<Index> group(n, -1);
  for (int round = 0; round < most_rounds; ++round) {
    pool.poll();
    std::vector<Vec> weight;
    for (const Vec& c : centre) {
      obs.weights(c.data(), w.data());
      weight.push_back(w);
    }
    bool changed = false;
    std::vector<Vec> t(centre.size(), Vec(w.size(), 0.0));
    for (std::size_t s = 0; s < n; ++s) {
      Index best = 0;
      double highest = -std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < centre.size(); ++j) {
        const double x = dot(stretches[s].t, weight[j]);
        if (x > highest) highest = x, best = static_cast<Index>(j);
      }
      changed |= group[s] != best;
      group[s] = best;
      add(t[best], stretches[s].t);
    }
    if (!changed) break;
    std::vector<Index> number(centre.size(), -1);
    centre.clear();
    for (std::size_t j = 0; j < t.size(); ++j)
      if (t[j][0] > 0) {
        number[j] = static_cast<Index>(centre.size());
        centre.push_back(t[j]);
      }
    for (Index& g : group) g = number[g];
  }
  return group;
}

}  // namespace bnpvi
