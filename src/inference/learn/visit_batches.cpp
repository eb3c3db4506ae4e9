#include "inference/learn/visit_batches.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "inference/learn/batch_work.h"

namespace bnpvi {

void visit_batches(const Problem& problem, State& state, const std::vector<Index>& batches, Visitor& visitor,
                   Pool& pool, std::vector<std::unique_ptr<Watch>>* watches) {
  const bool all_rows =
      batches.size() == state.batch.size() &&
      std::none_of(state.batch.begin(), state.batch.end(), [](const auto& b) { return b && b->settled; });
  const auto at = globals_for_work(problem, state.globals, all_rows);
  std::vector<std::unique_ptr<VisitWork>> work;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const Index b = batches[i];
    if (state.batch[b] && state.batch[b]->settled) {
      if (watches && (*watches)[i]) (*watches)[i]->begin(0), (*watches)[i]->finish();
      continue;
    }
    const std::shared_ptr<const UnitMemory> memory = state.batch[b]          ? state.batch[b]->memory
                                                     : state.earlier.empty() ? nullptr
                                                                             : state.earlier[b];
    visitor.prepare(at->globals, memory.get(), pool);
    work.push_back(std::make_unique<VisitWork>(b, at, visitor, memory,
                                               watches ? std::move((*watches)[i]) : nullptr, !state.batch[b],
                                               state.assignments ? &*state.assignments : nullptr));
  }
  do_work(problem, pool, work);
  const bool anew = state.batch.size() == 1 || problem.obs->capabilities().wide_sums;
  for (const auto& done : work) {
    const auto fresh = std::make_shared<Summary>(std::move(done->found));
    std::shared_ptr<const Summary>& now = state.batch[done->batch];
    if (now) fresh->log_base = now->log_base;
    const std::shared_ptr<const Summary> old = std::exchange(now, fresh);
    if (anew)
      resum(problem, state);
    else if (old)
      state.total.exchange(*old, *fresh, problem.pool);
    else
      state.total.add(*fresh);
  }
  if (!watches) return;
  auto done = work.begin();
  for (std::size_t i = 0; i < batches.size(); ++i)
    if (done != work.end() && (*done)->batch == batches[i]) (*watches)[i] = std::move((*done++)->watch);
}

void visit_all_batches(const Problem& problem, State& state, Visitor& visitor, Pool& pool) {
  visit_batches(problem, state, all_batches(problem.source), visitor, pool);
}

std::vector<Index> all_batches(const Source& source) {
  std::vector<Index> all(static_cast<std::size_t>(source.n_batches()));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

std::vector<std::vector<Index>> in_waves(const std::vector<Index>& batches, Index wave) {
  std::vector<std::vector<Index>> out;
  for (Index b : batches) {
    if (out.empty() || static_cast<Index>(out.back().size()) == wave) out.emplace_back();
    out.back().push_back(b);
  }
  return out;
}

}  // namespace bnpvi
