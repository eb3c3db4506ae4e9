#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "foundation/random.h"
#include "inference/learn.h"

namespace bnpvi {

namespace {

double units_in(const Problem& problem) {
  double n = 0;
  for (const auto& b : problem.batches) n += static_cast<double>(b.size());
  return n;
}

}  // namespace

Outcome learn_stochastic(const Problem& problem, State state, const LearnOptions& options, Pool& pool) {
  const auto began = std::chrono::steady_clock::now();
  const double n = units_in(problem);
  Outcome out;
  Index step = 0;
  std::vector<std::shared_ptr<const UnitMemory>> memory(problem.batches.size());
  for (Index lap = 1; lap < options.max_laps; ++lap) {
    std::vector<Index> order(problem.batches.size());
    std::iota(order.begin(), order.end(), Index{0});
    Stream stream(problem.seed, Purpose::batch_order, static_cast<std::uint64_t>(lap));
    for (Index i = static_cast<Index>(order.size()) - 1; i > 0; --i)
      std::swap(order[i], order[stream.index(i + 1)]);
    std::shared_ptr<const Neighbours> neighbours;
    for (Index b : order) {
      const Weights weights =
          make_weights(problem.obs, state.globals.effective.obs.data(), state.globals.effective.k);
      LocalInput in{problem.data, problem.batches[b], problem.obs, weights, state.globals,
                    pool,         problem.width,      nullptr};
      in.candidates = problem.candidates;
      in.memory = memory[b].get();
      if (in.memory && !neighbours) neighbours = problem.alloc.neighbours(in);
      in.neighbours = neighbours.get();
      Summary s = problem.alloc.local_step(in);
      if (!problem.alloc.grouped()) memory[b] = s.memory;
      s.scale(n / static_cast<double>(problem.batches[b].size()));
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
  for (std::size_t b = 0; b < problem.batches.size(); ++b)
    visit_batch(problem, state, static_cast<Index>(b), pool);
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
