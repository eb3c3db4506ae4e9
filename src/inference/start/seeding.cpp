#include "inference/start/seeding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "inference/start/seeding_rows.h"
#include "observations/capabilities.h"

namespace bnpvi {

namespace {

// Chooses at most k rows of the sample by k-means++ or uniformly. k-means++ draws only from the first 24 k
// rows (a guess), because each of these needs a factorisation.
std::vector<Index> choose_seeds(SeedRows& s, Index k, bool spread, Stream& stream, Pool& pool) {
  std::vector<Index> seeds;
  Vec chance = s.masses();
  if (!spread) {
    for (Index i; static_cast<Index>(seeds.size()) < k && (i = draw(chance, stream)) >= 0;) {
      seeds.push_back(i);
      chance[i] = 0;
    }
    return seeds;
  }
  const Index n = std::min(s.n(), std::max<Index>(256, 24 * k));
  s.look_at(n, pool);
  Vec nearest(static_cast<std::size_t>(n), std::numeric_limits<double>::infinity()),
      divergence(nearest.size());
  chance.resize(nearest.size());
  for (Index i; static_cast<Index>(seeds.size()) < k && (i = draw(chance, stream)) >= 0;) {
    pool.poll();
    seeds.push_back(i);
    s.divergences(i, divergence);
    for (Index l = 0; l < n; ++l) {
      nearest[l] = std::min(nearest[l], divergence[l]);
      chance[l] = s.mass(l) * nearest[l];
    }
  }
  return seeds;
}

HardClusters kmeans(const ObsModel& obs, SeedRows* s, Index k, bool spread, Index rounds, Stream& stream,
                    Pool& pool, double sharpness) {
  const Index n_rows = s->n(), p = s->p();
  HardClusters out;
  for (Index seed : choose_seeds(*s, k, spread, stream, pool)) {
    out.t.resize(out.t.size() + static_cast<std::size_t>(p), 0.0);
    s->add(seed, 1, out.t.data() + out.t.size() - p);
  }
  out.k = static_cast<Index>(out.t.size()) / p;

  std::vector<Index> label(static_cast<std::size_t>(n_rows), -1);
  Vec score, w, unused(static_cast<std::size_t>(p));
  for (Index round = 0; round <= rounds; ++round) {
    pool.poll();
    if (out.k == 0 && n_rows > 0) throw std::domain_error("no row has a mass that is a number");
    const Vec t_sharp = sharpened(out.t, sharpness);
    w.resize(out.t.size());
    Vec log_pi(static_cast<std::size_t>(out.k), 0.0);
    for (Index j = 0; j < out.k; ++j) {
      pool.poll();
      obs.point_estimate(t_sharp.data() + j * p, unused.data(), w.data() + j * p);
      if (round > 0) log_pi[j] = std::log(out.t[j * p]);
    }
    pool.spend(static_cast<double>(n_rows * out.k) * static_cast<double>(p));
    s->scores(out.k, w, score);
    bool changed = false;
    Vec t(out.t.size(), 0.0);
    out.loss = 0;
    for (Index n = 0; n < n_rows; ++n) {
      const double* row = score.data() + n * out.k;
      Index best = 0;
      for (Index j = 1; j < out.k; ++j)
        if (row[j] + log_pi[j] > row[best] + log_pi[best]) best = j;
      changed |= label[n] != best;
      label[n] = best;
      out.loss -= s->mass(n) * row[best];
      s->add(n, s->mass(n), t.data() + best * p);
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
  for (double& x : out.t) x *= s->scale();
  return out;
}

}  // namespace

HardClusters bregman_kmeans(const ObsModel& obs, const Dataset& data, const std::vector<Index>& rows,
                            const double* mass, Index k, bool spread, Index rounds, Stream& stream,
                            Pool& pool, const double* fill, double sharpness) {
  const Subsample chosen = choose_subsample(obs, static_cast<Index>(rows.size()), mass, k, stream);
  std::vector<Index> some;
  for (Index i : chosen.position) some.push_back(rows[i]);
  return kmeans(obs, make_seed_rows(obs, data, std::move(some), chosen, fill, sharpness).get(), k, spread,
                rounds, stream, pool, sharpness);
}

HardClusters bregman_kmeans(const ObsModel& obs, const Source& source, const RowPlaces& rows, Index k,
                            bool spread, Index rounds, Stream& stream, Pool& pool) {
  Vec mass;
  if (source.shape().weighted) {
    std::vector<Index> all(static_cast<std::size_t>(rows.n()));
    std::iota(all.begin(), all.end(), Index{0});
    mass = weights_of_rows(source, rows.at(all));
  }
  const Subsample chosen = choose_subsample(obs, rows.n(), mass.empty() ? nullptr : mass.data(), k, stream);
  const Sample sample = take_rows(source, rows.at(chosen.position), obs.capabilities().lag);
  return kmeans(obs, make_seed_rows(obs, sample.data, sample.rows, chosen).get(), k, spread, rounds, stream,
                pool, 1);
}

double draw_sharpness(double least, double most, Stream& stream) {
  return least * std::pow(most / least, stream.uniform());
}

Vec sharpened(Vec t, double sharpness) {
  for (double& x : t) x *= sharpness;
  return t;
}

HardClusters bregman_kmeans(const ObsModel& obs, const Sample& rows, const Vec& mass, Index k, Index rounds,
                            Stream& stream, Pool& pool) {
  return kmeans(obs, make_seed_rows(obs, rows.data, rows.rows, all_of(mass)).get(), k, true, rounds, stream,
                pool, 1);
}

}  // namespace bnpvi
