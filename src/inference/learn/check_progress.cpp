#include "inference/learn/check_progress.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>

#include "inference/learn/alloc_capabilities.h"
#include "observations/named_clusters.h"

namespace bnpvi {

namespace {

constexpr Index most = Index{1} << 31;
constexpr double largest = 1e200;  // largest absolute value of a statistic: a guess

template <class Numbers>
bool are_within(const Numbers& numbers, Index from, Index end) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](auto x) { return from <= static_cast<Index>(x) && static_cast<Index>(x) < end; });
}

bool is_part(std::size_t from, Index n, std::size_t size) {
  return n >= 0 && from <= size && static_cast<std::size_t>(n) <= size - from;
}

void require_weights(const Weights& w, const SummaryShape& shape) {
  const bool sized = 0 <= w.k && w.k < most && w.p == shape.p;
  const std::size_t size = sized ? static_cast<std::size_t>(w.k * w.p) : 0;
  require_stored(sized && w.w.size() == size && (w.transposed.empty() || w.transposed.size() == size),
                 "weights");
}

void require_shares(const ShareTable& table, const SummaryShape& shape, Index k) {
  for (const auto& block : table.block) {
    require_stored(block->weights || block->logs, "shares without what they were computed from");
    if (block->weights) require_weights(*block->weights, shape);
    const Index columns = block->weights ? block->weights->k : most;
    for (const Share& s : block->share)
      require_stored(0 <= s.cluster && s.cluster < k && 0 <= s.column && s.column < columns, "shares");
  }
  for (const UnitShares& unit : table.unit) {
    require_stored(0 <= unit.block && unit.block < static_cast<Index>(table.block.size()),
                   "places of shares");
    const ShareBlock& block = *table.block[static_cast<std::size_t>(unit.block)];
    require_stored(is_part(unit.from, unit.n, block.share.size()) &&
                       is_part(unit.local, unit.n_local, block.local.size()) &&
                       (block.weights || unit.logs <= block.logs->size()),
                   "places of shares");
  }
}

// Checks C of a unit whose block stores no weights: rows × columns, with columns from 0.
void require_logs(const ShareTable& table, Index i, Index rows) {
  const UnitShares& unit = table.unit[static_cast<std::size_t>(i)];
  const ShareBlock& block = *table.block[static_cast<std::size_t>(unit.block)];
  if (block.weights) return;
  Index columns = 0;
  for (const Share& s : table.shares(i)) columns = std::max<Index>(columns, s.column + 1);
  require_stored(rows * columns <= static_cast<Index>(block.logs->size() - unit.logs), "logs of shares");
}

void require_memory(const Problem& problem, const UnitMemory& m, Index b, Index k) {
  const SummaryShape shape = problem.alloc.shape(problem.obs);
  const Index width = m.support.width;
  require_stored(0 <= width && width < most && are_within(m.support.cluster, -1, k), "clusters of rows");
  require_stored(0 <= m.known_k && m.known_k <= k && are_within(m.born, -1, k) && m.visits >= 0,
                 "newborn clusters");
  require_shares(m.shares, shape, k);
  const auto batch = problem.source.open(b);
  const std::vector<Index>& starts = batch->data.starts;
  const Index units = static_cast<Index>(batch->units.size());
  const auto rows_of = [&](Index unit) { return starts[unit + 1] - starts[unit]; };
  Index rows = units;
  if (!m.unit.empty() || !m.row_start.empty()) {
    require_stored(m.row_start.size() == m.unit.size() + 1 && m.row_start.front() == 0 &&
                       std::is_sorted(m.row_start.begin(), m.row_start.end()) &&
                       are_within(m.unit, 0, batch->data.n_groups()) &&
                       std::is_sorted(m.unit.begin(), m.unit.end()),
                   "rows of units");
    for (std::size_t i = 0; i < m.unit.size(); ++i) {
      const Index n = m.row_start[i + 1] - m.row_start[i], all = rows_of(m.unit[i]);
      require_stored(n == all || n == std::max<Index>(0, all - problem.obs->capabilities().lag),
                     "rows of units");
    }
    rows = m.row_start.back();
  }
  require_stored(m.support.cluster.empty() || static_cast<Index>(m.support.cluster.size()) == rows * width,
                 "clusters of rows");
  if (m.shares.unit.empty()) return;
  require_stored(static_cast<Index>(m.shares.unit.size()) == units, "shares of units");
  for (Index i = 0; i < units; ++i)
    require_logs(m.shares, i, problem.alloc.grouped() ? rows_of(batch->units[i]) : 1);
}

}  // namespace

void require_stored(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("a stored state that is damaged: ") + what);
}

void require_summary(const Summary& s, const SummaryShape& shape, Index k) {
  const SummaryShape& own = s.shape;
  const auto has = [](const auto& numbers, Index n) { return static_cast<Index>(numbers.size()) == n; };
  require_stored(own.p == shape.p && own.q == shape.q && own.pairs == shape.pairs &&
                     own.scalars == shape.scalars && s.k == k && 0 <= k &&
                     k < most / std::max<Index>(1, shape.p),
                 "sizes of statistics");
  require_stored(has(s.obs, k * shape.p) && has(s.extra, k * shape.q) && has(s.pair, k * k * shape.pairs) &&
                     has(s.scalar, shape.scalars) && (s.owner.empty() || has(s.owner, k)),
                 "sizes of statistics");
  const auto are_finite = [](const auto& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::abs(x) < largest; });
  };
  require_stored(are_finite(s.obs) && are_finite(s.extra) && are_finite(s.pair) && are_finite(s.scalar),
                 "statistics that are no numbers");
  for (Index i = 0; i < k && shape.p > 0; ++i)  // rounding may leave values slightly below 0
    require_stored(s.obs[i * shape.p] > -1, "rows of clusters");
}

void require_progress(const Problem& problem, const Progress& progress) {
  const State& state = progress.state;
  const SummaryShape shape = problem.alloc.shape(problem.obs);
  const Index k = state.total.k, fixed = problem.alloc.fixed_k(), n_batches = problem.source.n_batches();
  require_stored(fixed == 0 || k == fixed, "number of clusters");
  require_stored(static_cast<Index>(state.batch.size()) == n_batches, "number of batches");
  require_summary(state.total, shape, k);
  require_summary(state.globals.effective, shape, k);
  require_stored(has_names(problem.obs, state.total.names.of, k) &&
                     has_names(problem.obs, state.globals.effective.names.of, k),
                 "names of clusters");
  const auto has = [](const Vec& numbers, Index n) { return static_cast<Index>(numbers.size()) == n; };
  require_stored(has(state.globals.u, stored_in_u(problem.alloc, k)) &&
                     has(state.globals.omega, problem.alloc.numbers_in_omega(k)),
                 "sticks");
  const std::vector<int>& owner = state.total.owner;
  const std::shared_ptr<const Batch> first = problem.source.open(0);
  const Index classes = first->data.class_sets ? first->data.class_sets->n_classes : 0;
  require_stored(
      are_within(owner, 0, classes + 1) && are_within(state.globals.effective.owner, 0, classes + 1),
      "owners of clusters");
  for (Index b = 0; b < n_batches; ++b) {
    const auto& batch = state.batch[static_cast<std::size_t>(b)];
    if (!batch) continue;
    require_summary(*batch, shape, k);
    require_stored(are_within(batch->owner, 0, classes + 1), "owners of clusters");
    // Earlier data must be statistics without rows, in the last batch: visits would skip rows of a settled
    // batch.
    require_stored(!batch->settled || (b + 1 == n_batches && problem.source.open(b)->units.empty()),
                   "earlier data");
    if (batch->memory && !batch->settled) require_memory(problem, *batch->memory, b, k);
  }
  require_stored(progress.moves.size() == k, "history of clusters");
  require_stored(progress.turn >= 0 && progress.step >= 0, "numbers of laps");
  require_stored(progress.memory.empty() || static_cast<Index>(progress.memory.size()) == n_batches,
                 "memory of batches");
  for (std::size_t b = 0; b < progress.memory.size(); ++b)
    if (progress.memory[b]) require_memory(problem, *progress.memory[b], static_cast<Index>(b), k);
}

}  // namespace bnpvi
