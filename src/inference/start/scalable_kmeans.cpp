#include "inference/start/scalable_kmeans.h"

#include <cmath>
#include <numeric>

#include "inference/learn/visit_batches.h"
#include "inference/start/scalable_work.h"

namespace bnpvi {

namespace {

constexpr Index improvements = 10;  // rounds of k-means among the candidates, as in starts by k-means++
constexpr Index tries = 10;         // number of clusterings of the candidates, as in starts with a fixed K

// Does this kind of work on all batches, a wave at a time, and calls take() with the results in the order of
// the batches.
template <class Work, class What, class Take>
void pass(const Problem& problem, Pool& pool, const std::shared_ptr<const What>& what, Take take) {
  for (const std::vector<Index>& wave : in_waves(all_batches(problem.source), problem.wave)) {
    std::vector<std::unique_ptr<Work>> work;
    for (Index b : wave) work.push_back(std::make_unique<Work>(b, what));
    do_work(problem, pool, work);
    for (const auto& done : work) take(*done);
  }
}

// a += b
void add_to(Vec& a, const Vec& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
}

std::shared_ptr<const Centres> centres_of(const ObsModel& obs, const HardClusters& clusters) {
  auto out = std::make_shared<Centres>();
  const Index p = obs.n_features();
  out->k = clusters.k;
  out->w.resize(clusters.t.size());
  Vec unused(static_cast<std::size_t>(p));
  for (Index j = 0; j < clusters.k; ++j) {
    const double* t = clusters.t.data() + j * p;
    obs.point_estimate(t, unused.data(), out->w.data() + j * p);
    out->w[j * p] += std::log(t[0]);
  }
  return out;
}

HardClusters of_candidates(const Problem& problem, const Candidates& candidates, Vec mass, Index k,
                           Pool& pool) {
  const double total = std::accumulate(mass.begin(), mass.end(), 0.0);
  for (double& m : mass) m *= static_cast<double>(mass.size()) / total;
  Stream stream(problem.seed, Purpose::initial_seeds);
  HardClusters out;
  for (Index i = 0; i < tries; ++i) {
    HardClusters other = bregman_kmeans(problem.obs, candidates.rows, mass, k, improvements, stream, pool);
    if (i == 0 || other.loss < out.loss) out = std::move(other);
  }
  return out;
}

}  // namespace

ScalableClusters scalable_kmeans(const Problem& problem, Index k, Pool& pool, Index rounds) {
  ScalableClusters out;
  std::vector<Place> places;
  std::shared_ptr<const Candidates> candidates;
  for (Index round = 0; round <= rounds + 1; ++round) {
    auto next = std::make_shared<Candidates>();
    if (!places.empty()) next->rows = take_rows(problem.source, places, problem.obs->capabilities().lag);
    next->round = round;
    next->draws = round <= rounds ? k : 0;
    next->seed = problem.seed;
    candidates = std::move(next);
    out.mass.assign(places.size(), 0.0);
    double potential = 0;
    std::vector<DrawnRow> drawn;
    pass<DrawRowsWork>(problem, pool, candidates, [&](const DrawRowsWork& done) {
      potential += done.potential;
      add_to(out.mass, done.mass);
      drawn.insert(drawn.end(), done.drawn.begin(), done.drawn.end());
      keep_first(drawn, k);
    });
    if (round > 0) out.potential.push_back(potential);
    for (const DrawnRow& row : drawn) {
      places.push_back({row.batch, row.at});
      out.candidate.push_back(row.number);
    }
  }
  const HardClusters chosen = of_candidates(problem, *candidates, out.mass, k, pool);
  Vec t(chosen.t.size(), 0.0);
  pass<NearestWork>(problem, pool, centres_of(problem.obs, chosen),
                    [&](const NearestWork& done) { add_to(t, done.t); });
  out.clusters.loss = chosen.loss;
  const Index p = problem.obs->n_features();
  for (auto from = t.begin(); from != t.end(); from += p) {
    if (!(*from > 0)) continue;
    out.clusters.t.insert(out.clusters.t.end(), from, from + p);
    ++out.clusters.k;
  }
  return out;
}

}  // namespace bnpvi
