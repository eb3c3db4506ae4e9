#include "inference/start.h"

#include <algorithm>
#include <numeric>

#include "foundation/chunks.h"
#include "inference/seeding.h"
#include "topics/anchor_words.h"

namespace bnpvi {

namespace {

// Clusters by decreasing size: what sticks expect.
Summary by_size(Summary s) {
  std::vector<Index> order(static_cast<std::size_t>(s.k));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return s.size(a) > s.size(b); });
  s.permute(order);
  return s;
}

// Transitions are not known yet: as if the states of rows did not depend on each other.
void expect_independence(Summary& s, double groups) {
  if (!s.shape.pairs) return;
  const Vec n = s.sizes();
  const double rows = std::accumulate(n.begin(), n.end(), 0.0);
  for (Index i = 0; i < s.k; ++i) {
    s.extra[i] = groups * n[i] / rows;
    for (Index j = 0; j < s.k; ++j) s.pair[i * s.k + j] = n[i] * n[j] / rows;
  }
}

// q(z) = Π_t q(z_t).
void expect_independence(const Problem& problem, Assignments& q) {
  const Dataset& data = problem.data;
  for (Index g = 0; g < data.n_groups(); ++g)
    for (Index t = data.starts[g] + problem.obs.lag() + 1; t < data.starts[g + 1]; ++t)
      for (Index l = 0; l < q.k; ++l)
        for (Index j = 0; j < q.k; ++j)
          q.joint[(t * q.k + l) * q.k + j] = q.r[l * q.n + t - 1] * q.r[j * q.n + t];
}

}  // namespace

Globals start_from_seeds(const Problem& problem, Index k, bool spread, Index rounds, std::uint64_t restart,
                         Pool& pool) {
  Stream stream(problem.seed, Purpose::initial_seeds, restart);
  const std::vector<Index> rows = modelled_rows(problem.data, problem.obs.lag());
  const HardClusters hard =
      bregman_kmeans(problem.obs, problem.data, rows, nullptr, k, spread, rounds, stream, pool);
  const Index size = std::max(hard.k, problem.alloc.fixed_k());
  Summary total(problem.alloc.shape(problem.obs), size);
  std::copy(hard.t.begin(), hard.t.end(), total.edit_t(0));
  if (problem.alloc.grouped() && problem.obs.tokens())
    for (Index j = 0; j < hard.k; ++j)
      total.edit_t(j)[0] = std::accumulate(total.t(j) + 1, total.t(j) + total.shape.p, 0.0);
  expect_independence(total, static_cast<double>(problem.data.n_groups()));
  return problem.alloc.global_step(by_size(std::move(total)), {});
}

Globals start_from_anchors(const Problem& problem, Index k, std::uint64_t restart, Pool& pool) {
  Stream stream(problem.seed, Purpose::initial_seeds, restart);
  const topics::AnchorTopics found =
      topics::anchor_topics(topics::all_counts(problem.data), problem.data.d, k, false, stream, pool);
  Summary total(problem.alloc.shape(problem.obs), std::max<Index>({found.k, problem.alloc.fixed_k(), 1}));
  std::copy(found.t.begin(), found.t.end(), total.edit_t(0));
  return problem.alloc.global_step(by_size(std::move(total)), {});
}

Globals start_from_blocks(const Problem& problem, Index k, std::uint64_t restart) {
  constexpr Index longest = 100;
  Stream stream(problem.seed, Purpose::initial_seeds, restart);
  const std::vector<Index> rows = modelled_rows(problem.data, problem.obs.lag());
  const Index n = static_cast<Index>(rows.size()), size = std::clamp<Index>(n / (2 * k), 1, longest);
  Summary total(problem.alloc.shape(problem.obs), k);
  FeatureBlock block(problem.obs, problem.data);
  const Vec ones(static_cast<std::size_t>(size), 1.0);
  for (Index j = 0; j < k; ++j) {
    const Index first = stream.index(n);
    const auto& starts = problem.data.starts;
    const Index end = *std::upper_bound(starts.begin(), starts.end(), rows[first]);
    std::vector<Index> window;
    for (Index i = first; i < n && rows[i] < end && i < first + size; ++i) window.push_back(rows[i]);
    for (std::size_t from = 0; from < window.size(); from += static_cast<std::size_t>(block.block_rows())) {
      block.load(window.data() + from,
                 std::min(block.block_rows(), static_cast<Index>(window.size() - from)));
      block.add_weighted(ones.data(), total.edit_t(j));
    }
  }
  expect_independence(total, static_cast<double>(problem.data.n_groups()));
  return problem.alloc.global_step(by_size(std::move(total)), {});
}

State start_from_globals(const Problem& problem, Globals globals) {
  State state;
  state.total = Summary(problem.alloc.shape(problem.obs), globals.effective.k);
  state.batch.resize(problem.batches.size());
  state.globals = std::move(globals);
  if (problem.audit && !problem.alloc.remembers())
    state.assignments.emplace(problem.data.n, state.k(), state.total.shape.pairs);
  return state;
}

State start_from_responsibilities(const Problem& problem, const GivenResponsibilities& resp, Index k,
                                  Pool& pool) {
  State state;
  state.total = Summary(problem.alloc.shape(problem.obs), k);
  for (const auto& units : problem.batches) {
    Weights weights;
    weights.k = k;
    auto s = std::make_shared<Summary>(
        problem.alloc.summarise({problem.data, units, problem.obs, weights, {}, pool, problem.width}, resp));
    state.total.add(*s);
    state.batch.push_back(std::move(s));
  }
  if (problem.audit && !problem.alloc.remembers()) {
    state.assignments.emplace(problem.data.n, k, state.total.shape.pairs);
    Vec& r = state.assignments->r;
    for (Index j = 0; j < k; ++j)
      for (Index i = 0; i < problem.data.n; ++i) r[j * problem.data.n + i] = resp(i, j);
    if (state.total.shape.pairs) expect_independence(problem, *state.assignments);
  }
  refresh(problem, state);
  settle(problem, state);
  return state;
}

}  // namespace bnpvi
