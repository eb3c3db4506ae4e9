#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>

#include "foundation/random.h"
#include "inference/learn.h"
#include "inference/visit_batches.h"

namespace bnpvi {

Outcome learn_stochastic(const Problem& problem, Progress from, const LearnOptions& options, Pool& pool) {
  const auto began = std::chrono::steady_clock::now();
  Progress p = std::move(from);
  State& state = p.state;
  const bool grouped = problem.alloc.grouped();
  const double all = weight_of_units(problem.source, grouped),
               before = p.trace.empty() ? 0 : p.trace.back().seconds;
  p.memory.resize(static_cast<std::size_t>(problem.source.n_batches()));
  const auto end_lap = [&](double elbo) {
    LapRecord record;
    record.lap = p.lap;
    record.k = state.globals.effective.k;
    record.elbo = elbo;
    record.seconds = before + std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    p.trace.push_back(record);
    pool.monitor().lap(record);
    if (options.after_lap) options.after_lap(p);
  };
  const auto one_lap = [&] {
    Stream stream(problem.seed, Purpose::batch_order, static_cast<std::uint64_t>(p.lap));
    const std::unique_ptr<Visitor> visitor = problem.alloc.visitor();
    for (Index b : shuffled(problem.source.n_batches(), stream)) {
      const std::shared_ptr<const Batch> batch = problem.source.open(b);
      Summary s = visitor->visit({batch->data, batch->units, problem.obs, state.globals,
                                  visiting_weights(problem, state.globals.effective), pool, nullptr,
                                  p.memory[b].get()});
      if (!grouped) p.memory[b] = s.memory;
      s.scale(all / weight_of_units(*batch, grouped));
      const double rate =
          std::min(1.0, std::pow(options.delay + static_cast<double>(++p.step), -options.power));
      state.globals = problem.alloc.stochastic_step(state.globals, s, rate);
    }
    end_lap(std::numeric_limits<double>::quiet_NaN());
  };
  p.reason = "max_laps";
  try {
    while (p.lap + 1 < options.max_laps) ++p.lap, one_lap();
    p.lap = options.max_laps;
  } catch (const Interrupted&) {
    if (!options.keep_interrupted) throw;
    pool.go_on();
    p.reason = "interrupted";
  }
  for (auto& b : state.batch) b.reset();  // the last lap is to compare rows with all clusters
  state.total = Summary(problem.alloc.shape(problem.obs), state.globals.effective.k);
  state.total.owner = state.globals.effective.owner;
  const std::unique_ptr<Visitor> visitor = problem.alloc.visitor();
  visit_all_batches(problem, state, *visitor, pool);
  refresh(problem, state);
  settle(problem, state);
  end_lap(state.elbo);
  return {std::move(p), nullptr, nullptr};
}

}  // namespace bnpvi
