#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "foundation/random.h"
#include "inference/learn.h"

namespace bnpvi {

namespace {

double units_in(const Source& source) {
  double n = 0;
  for (Index b = 0; b < source.n_batches(); ++b) n += static_cast<double>(source.open(b)->units.size());
  return n;
}

}  // namespace

Outcome learn_stochastic(const Problem& problem, State state, const LearnOptions& options, Pool& pool) {
  const auto began = std::chrono::steady_clock::now();
  const double n = units_in(problem.source);
  Outcome out;
  Index step = 0;
  std::vector<std::shared_ptr<const UnitMemory>> memory(static_cast<std::size_t>(problem.source.n_batches()));
  for (Index lap = 1; lap < options.max_laps; ++lap) {
    std::vector<Index> order(memory.size());
    std::iota(order.begin(), order.end(), Index{0});
    Stream stream(problem.seed, Purpose::batch_order, static_cast<std::uint64_t>(lap));
    for (Index i = static_cast<Index>(order.size()) - 1; i > 0; --i)
      std::swap(order[i], order[stream.index(i + 1)]);
    const std::unique_ptr<Visitor> visitor = problem.alloc.visitor();
    for (Index b : order) {
      const std::shared_ptr<const Batch> batch = problem.source.open(b);
      Summary s = visitor->visit({batch->data, batch->units, problem.obs, state.globals,
                                  visiting_weights(problem, state.globals.effective), pool, nullptr,
                                  memory[b].get()});
      if (!problem.alloc.grouped()) memory[b] = s.memory;
      s.scale(n / static_cast<double>(batch->units.size()));
      const double rate =
          std::min(1.0, std::pow(options.delay + static_cast<double>(++step), -options.power));
      state.globals = problem.alloc.stochastic_step(state.globals, s, rate);
    }
    LapRecord record;
    record.lap = lap;
    record.k = state.globals.effective.k;
    record.elbo = std::numeric_limits<double>::quiet_NaN();
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    out.trace.push_back(record);
    pool.monitor().lap(record);
  }
  for (auto& b : state.batch) b.reset();  // all clusters are looked at in the last lap
  state.total = Summary(problem.alloc.shape(problem.obs), state.globals.effective.k);
  const std::unique_ptr<Visitor> visitor = problem.alloc.visitor();
  for (Index b = 0; b < problem.source.n_batches(); ++b) visit_batch(problem, state, b, *visitor, pool);
  refresh(problem, state);
  settle(problem, state);
  LapRecord record;
  record.lap = options.max_laps;
  record.k = state.k();
  record.elbo = state.elbo;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  out.trace.push_back(record);
  pool.monitor().lap(record);
  out.state = std::move(state);
  out.reason = "max_laps";
  return out;
}

}  // namespace bnpvi
