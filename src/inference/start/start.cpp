#include "inference/start/start.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/chunks.h"
#include "inference/learn/coming_weights.h"
#include "inference/start/scalable_kmeans.h"
#include "observations/hidden_scales.h"

namespace bnpvi {

namespace {

// The largest number of rounds that fill in missing cells, given responsibilities: a guess.
constexpr int most_expectations = 100;
// Least gain of a further round, relative to the bound; for scales of rows a larger one, as laps renew these
// in any case.
constexpr double enough_gain = 1e-10, enough_of_scales = 1e-7;

// The clusters sorted by decreasing size, the order that suits stick breaking.
Summary by_size(Summary s) {
  s.permute(s.by_size());
  return s;
}

// Sets the joint probabilities as if the states of neighbouring rows were independent: q(z) = Π_t q(z_t).
void expect_independence(const Problem& problem, Assignments& q) {
  const std::vector<Index>& starts = problem.source.starts();
  for (std::size_t g = 0; g + 1 < starts.size(); ++g)
    for (Index first = starts[g] + problem.obs->capabilities().lag, t = first; t < starts[g + 1]; ++t) {
      const Index parent = t - steps_to_parent(problem.source.back(), t, first);
      for (Index l = 0; l < q.k && parent < t; ++l)
        for (Index j = 0; j < q.k; ++j)
          q.joint[(t * q.k + l) * q.k + j] = q.r[l * q.n + parent] * q.r[j * q.n + t];
    }
}

Globals start_from_clusters(const Problem& problem, const HardClusters& hard) {
  const Index size = std::max(hard.k, problem.alloc.fixed_k());
  Summary total(problem.alloc.shape(problem.obs), size);
  std::copy(hard.t.begin(), hard.t.end(), total.edit_t(0));
  if (problem.alloc.grouped() && problem.obs->capabilities().tokens)
    for (Index j = 0; j < hard.k; ++j)
      total.edit_t(j)[0] = std::accumulate(total.t(j) + 1, total.t(j) + total.shape.p, 0.0);
  complete_start(problem.alloc, total, weight_of_units(problem.source, problem.alloc.grouped()));
  return problem.alloc.global_step(by_size(std::move(total)), {});
}

}  // namespace

Globals start_from_seeds(const Problem& problem, Index k, bool spread, Index rounds, Index tries,
                         Pool& pool) {
  Stream stream(problem.seed, Purpose::initial_seeds);
  const RowPlaces rows(problem.source, problem.alloc.grouped(), problem.obs->capabilities().lag);
  HardClusters hard = bregman_kmeans(problem.obs, problem.source, rows, k, spread, rounds, stream, pool);
  for (; tries > 1; --tries) {
    HardClusters other = bregman_kmeans(problem.obs, problem.source, rows, k, spread, rounds, stream, pool);
    if (other.loss < hard.loss) hard = std::move(other);
  }
  return start_from_clusters(problem, hard);
}

Globals start_from_all_rows(const Problem& problem, Index k, Pool& pool) {
  return start_from_clusters(problem, scalable_kmeans(problem, k, pool).clusters);
}

Globals start_of_model(const Problem& problem, Index k, Pool& pool) {
  Stream stream(problem.seed, Purpose::initial_seeds);
  const OwnStart* start = problem.alloc.capabilities().start;
  if (!start) throw std::logic_error("this allocation model has no start of its own");
  return problem.alloc.global_step(by_size(start->own_start(problem, k, stream, pool)), {});
}

Globals start_from_blocks(const Problem& problem, Index k) {
  constexpr Index longest = 100;  // rows of a block: a guess
  Stream stream(problem.seed, Purpose::initial_seeds);
  const std::vector<Index>& starts = problem.source.starts();
  const Index lag = problem.obs->capabilities().lag;
  const std::vector<Index> rows = modelled_rows(starts, lag);
  const std::vector<Place> places = places_of_rows(problem.source, problem.alloc.grouped(), lag);
  const Index n = static_cast<Index>(rows.size()), size = std::clamp<Index>(n / (2 * k), 1, longest);
  std::vector<Place> chosen;
  std::vector<std::size_t> ends;  // for each block its end in `chosen`
  for (Index j = 0; j < k; ++j) {
    const Index first = stream.index(n), end = *std::upper_bound(starts.begin(), starts.end(), rows[first]);
    for (Index i = first; i < n && rows[i] < end && i < first + size; ++i) chosen.push_back(places[i]);
    ends.push_back(chosen.size());
  }
  const Sample sample = take_rows(problem.source, chosen, lag);
  Summary total(problem.alloc.shape(problem.obs), k);
  FeatureBlock block(problem.obs, sample.data);
  std::size_t from = 0;
  for (Index j = 0; j < k; ++j)
    while (from < ends[j]) {
      const Index m = std::min(block.block_rows(), static_cast<Index>(ends[j] - from));
      block.load(sample.rows.data() + from, m);
      block.add_rows(total.edit_t(j));
      from += static_cast<std::size_t>(m);
    }
  complete_start(problem.alloc, total, weight_of_units(problem.source, problem.alloc.grouped()));
  return problem.alloc.global_step(by_size(std::move(total)), {});
}

State start_from_globals(const Problem& problem, Globals globals) {
  State state;
  state.total = Summary(problem.alloc.shape(problem.obs), globals.effective.k);
  state.total.owner = globals.effective.owner;
  state.total.names = globals.effective.names;
  state.batch.resize(static_cast<std::size_t>(problem.source.n_batches()));
  state.globals = std::move(globals);
  if (problem.observer.wants_assignments() && !remembers(problem.alloc))
    state.assignments.emplace(problem.source.shape().n, state.k(), state.total.shape.pairs);
  return state;
}

void settle_earlier(const Problem& problem, State& state) {
  auto earlier = std::make_shared<Summary>(state.globals.effective);
  state.total = *earlier;
  earlier->settled = true;
  if (remembers(problem.alloc)) earlier->memory = std::make_shared<const UnitMemory>();
  state.batch.back() = std::move(earlier);
}

State start_from_responsibilities(const Problem& problem, const GivenResponsibilities& resp, Pool& pool,
                                  const std::vector<int>& owner) {
  State state;
  const Index k = resp.k(), n = problem.source.shape().n;
  const auto summarise = [&](std::shared_ptr<const Weights> weights) {
    state.total = Summary(problem.alloc.shape(problem.obs), k);
    state.total.owner = owner;
    state.batch.clear();
    for (Index b = 0; b < problem.source.n_batches(); ++b) {
      const std::shared_ptr<const Batch> batch = problem.source.open(b);
      auto s = std::make_shared<Summary>(problem.alloc.summarise(
          {batch->data, batch->units, problem.obs, {}, weights, pool}, resp.of_rows(batch->rows)));
      s->owner = owner;
      s->log_base = batch_log_base(problem, *batch);
      state.total.add(*s);
      state.batch.push_back(std::move(s));
    }
  };
  summarise(nullptr);
  if (problem.observer.wants_assignments() && !remembers(problem.alloc)) {
    state.assignments.emplace(n, k, state.total.shape.pairs);
    Vec& r = state.assignments->r;
    for (Index j = 0; j < k; ++j)
      for (Index i = 0; i < n; ++i) r[j * n + i] = resp(i, j);
    if (state.total.shape.pairs) expect_independence(problem, *state.assignments);
  }
  refresh(problem, state);
  for (int round = 0; round < most_expectations && problem.obs->capabilities().cells; ++round) {
    const double before = state.elbo;
    Vec evidence(static_cast<std::size_t>(state.k()));
    summarise(coming_weights(problem, state.total, evidence.data(), true));
    refresh(problem, state);
    const double least = hidden_scales(problem.obs) ? enough_of_scales : enough_gain;
    if (state.elbo - before < least * std::abs(state.elbo)) break;
  }
  settle(problem, state);
  return state;
}

}  // namespace bnpvi
