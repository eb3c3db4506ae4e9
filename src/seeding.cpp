#include "seeding.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels.h"

namespace bnpvi {

namespace {

constexpr Index max_features = Index{1} << 22;  // doubles

double dot(const double* a, const double* b, Index p) {
  double c = 0;
  kernels().product_nt(1, 1, p, a, p, b, p, &c, 1);
  return c;
}

// Index of a draw with probability proportional to weight, or -1 when all weights are 0.
Index draw(const Vec& weight, Stream& stream) {
  double total = 0;
  for (double w : weight) total += w;
  if (!(total > 0)) return -1;
  double u = stream.uniform() * total;
  Index last = -1;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (weight[i] <= 0) continue;
    last = static_cast<Index>(i);
    if ((u -= weight[i]) < 0) return last;
  }
  return last;
}

// The rows looked at, their features and mass.
struct Sample {
  Index n = 0, p = 0;
  double scale = 1;  // mass of all rows / mass of these
  Vec phi, mass;

  const double* row(Index i) const { return phi.data() + i * p; }
};

Sample take_sample(const ObsModel& obs, const Dataset& data, std::vector<Index> rows, const double* mass,
                   Stream& stream) {
  Sample s;
  s.p = obs.n_features();
  const Index all = static_cast<Index>(rows.size());
  s.n = std::min(all, std::max<Index>(64, max_features / s.p));
  Vec weight(rows.size(), 1.0);
  if (mass) weight.assign(mass, mass + all);
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
  for (Index i = 0; i < s.n; ++i) {
    const Index j = i + stream.index(all - i);
    std::swap(rows[i], rows[j]);
    std::swap(weight[i], weight[j]);
  }
  rows.resize(static_cast<std::size_t>(s.n));
  weight.resize(static_cast<std::size_t>(s.n));
  s.mass = std::move(weight);
  const double kept = std::accumulate(s.mass.begin(), s.mass.end(), 0.0);
  s.scale = kept > 0 ? total / kept : 1;
  s.phi.resize(static_cast<std::size_t>(s.n * s.p));
  obs.features(data, rows.data(), s.n, s.phi.data(), s.p);
  return s;
}

// k-means++ or uniform choice of at most k rows of the sample; k-means++ looks at its first 24 k rows only, as
// a divergence costs a factorisation a row.
std::vector<Index> choose_seeds(const ObsModel& obs, const Sample& s, Index k, bool spread, Stream& stream,
                                Pool& pool) {
  std::vector<Index> seeds;
  Vec chance = s.mass;
  if (!spread) {
    for (Index i; static_cast<Index>(seeds.size()) < k && (i = draw(chance, stream)) >= 0;) {
      seeds.push_back(i);
      chance[i] = 0;
    }
    return seeds;
  }
  const Index n = std::min(s.n, std::max<Index>(256, 24 * k));
  Vec mean(static_cast<std::size_t>(n * s.p)), self(static_cast<std::size_t>(n)), w(static_cast<std::size_t>(s.p));
  for (Index i = 0; i < n; ++i) {
    if (i % 64 == 0) pool.poll();
    obs.point_estimate(s.row(i), mean.data() + i * s.p, w.data());
    self[i] = dot(mean.data() + i * s.p, w.data(), s.p);
  }
  Vec nearest(static_cast<std::size_t>(n), std::numeric_limits<double>::infinity());
  Vec cross(static_cast<std::size_t>(n)), unused(static_cast<std::size_t>(s.p));
  chance.resize(static_cast<std::size_t>(n));
  for (Index i; static_cast<Index>(seeds.size()) < k && (i = draw(chance, stream)) >= 0;) {
    pool.poll();
    seeds.push_back(i);
    obs.point_estimate(s.row(i), unused.data(), w.data());
    kernels().product_nt(n, 1, s.p, mean.data(), s.p, w.data(), s.p, cross.data(), 1);
    for (Index l = 0; l < n; ++l) {
      const double divergence = self[l] - cross[l];
      const double rounding = 1e-12 * (1 + std::abs(self[l]));
      nearest[l] = std::min(nearest[l], divergence > rounding ? divergence : 0.0);
      chance[l] = s.mass[l] * nearest[l];
    }
  }
  return seeds;
}

}  // namespace

HardClusters bregman_kmeans(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows,
                            const double* mass, Index k, bool spread, Index rounds, Stream& stream, Pool& pool) {
  const Sample s = take_sample(obs, data, rows, mass, stream);
  const Index p = s.p;
  HardClusters out;
  for (Index seed : choose_seeds(obs, s, k, spread, stream, pool))
    out.t.insert(out.t.end(), s.row(seed), s.row(seed) + p);
  out.k = static_cast<Index>(out.t.size()) / p;

  std::vector<Index> label(static_cast<std::size_t>(s.n), -1);
  Vec score, w, unused(static_cast<std::size_t>(p));
  for (Index round = 0; round <= rounds; ++round) {
    pool.poll();
    w.resize(out.t.size());
    Vec log_pi(static_cast<std::size_t>(out.k), 0.0);
    for (Index j = 0; j < out.k; ++j) {
      obs.point_estimate(out.t.data() + j * p, unused.data(), w.data() + j * p);
      if (round > 0) log_pi[j] = std::log(out.t[j * p]);
    }
    score.resize(static_cast<std::size_t>(s.n * out.k));
    kernels().product_nt(s.n, out.k, p, s.phi.data(), p, w.data(), p, score.data(), out.k);
    bool changed = false;
    Vec t(out.t.size(), 0.0);
    out.loss = 0;
    for (Index n = 0; n < s.n; ++n) {
      const double* row = score.data() + n * out.k;
      Index best = 0;
      for (Index j = 1; j < out.k; ++j)
        if (row[j] + log_pi[j] > row[best] + log_pi[best]) best = j;
      changed |= label[n] != best;
      label[n] = best;
      out.loss -= s.mass[n] * row[best];
      const int at = static_cast<int>(best);
      kernels().scatter_sparse_rows(1, p, &at, &s.mass[n], s.row(n), t.data(), p);
    }
    std::vector<Index> number(static_cast<std::size_t>(out.k), -1);
    Index kept = 0;
    out.t.clear();
    for (Index j = 0; j < out.k; ++j)
      if (t[j * p] > 0) {
        number[j] = kept++;
        out.t.insert(out.t.end(), t.begin() + j * p, t.begin() + (j + 1) * p);
      }
    for (Index& l : label) l = number[l];
    out.k = kept;
    if (!changed) break;
  }
  for (double& x : out.t) x *= s.scale;
  return out;
}

}  // namespace bnpvi
