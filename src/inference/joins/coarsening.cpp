#include "inference/joins/coarsening.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "inference/moves/move.h"
#include "inference/start/start.h"

namespace bnpvi {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Coarsening::Coarsening(const Problem& problem, Globals globals,
                       std::vector<std::shared_ptr<const UnitMemory>> earlier, Pool& pool)
    : problem_(problem),
      pool_(pool),
      state_(start_from_globals(problem, std::move(globals))),
      k_(state_.k()),
      memory_(k_, 1),
      changes_(k_, state_.total.shape.q),
      data_(static_cast<std::size_t>(k_ * k_), unknown),
      allocation_(data_.size(), unknown) {
  const auto weights = visiting_weights(problem, state_.globals.effective);
  for (Index b = 0; b < problem.source.n_batches(); ++b) {
    const std::shared_ptr<const Batch> batch = problem.source.open(b);
    const UnitMemory* memory = earlier.empty() ? nullptr : earlier[b].get();
    auto summary = std::make_shared<Summary>(explicit_step(
        problem.alloc,
        {batch->data, batch->units, problem.obs, state_.globals, weights, pool, nullptr, memory}, parts_));
    summary->log_base = batch_log_base(problem, *batch);
    state_.batch[b] = std::move(summary);
  }
  resum(problem, state_);
  add_changes();
  refresh(problem, state_);
  settle_globals();
}

// Works on as many parts at a time as there are threads, and adds the results in order.
void Coarsening::add_changes() {
  const Index n = static_cast<Index>(parts_.size()), at_once = pool_.n_threads(), q = state_.total.shape.q;
  for (Index from = 0; from < n; from += at_once) {
    std::vector<JoinChanges> found(static_cast<std::size_t>(std::min(at_once, n - from)), JoinChanges(k_, q));
    pool_.run(static_cast<Index>(found.size()), [&](Index i) {
      pool_.poll();
      parts_[from + i]->add_changes(found[i]);
    });
    for (const JoinChanges& part : found) changes_.add(part);
  }
}

// Where summaries have tangents, alternates between renewing the tangents at the globals and optimising the
// globals.
void Coarsening::settle_globals() {
  constexpr int most = 50;          // largest number of rounds: a guess
  constexpr double enough = 1e-10;  // least gain of a round, relative to the ELBO
  std::vector<Index> number(static_cast<std::size_t>(k_));
  for (Index id = 0; id < k_; ++id) number[id] = this->number(id);
  for (int round = 0; round < most; ++round) {
    pool_.poll();
    Vec extra(state_.total.extra.size(), 0.0);
    bool any = false;
    for (const auto& part : parts_) any |= part->settle(state_.globals, number, extra);
    if (!any) return;
    state_.total.extra = extra;
    const double before = state_.elbo;
    refresh(problem_, state_);
    if (round > 0 && state_.elbo - before <= enough * (1 + std::abs(before))) return;
  }
}

Index Coarsening::join(Index first, Index second) {
  const Index a = std::min(number(first), number(second)), b = std::max(number(first), number(second));
  const Index kept = id(a), gone = id(b), q = state_.total.shape.q;
  const double* change = changes_.of(kept, gone);
  State joined;
  joined.batch = state_.batch;
  joined.total = state_.total;
  joined.total.merge(a, b);
  joined.total.entropy() += change[0];
  for (Index i = 0; i < q; ++i) joined.total.extra[a * q + i] += change[1 + i];
  for (const auto& part : parts_) {
    pool_.poll();
    part->join(kept, gone, changes_);
  }
  changes_.merge(kept, gone);
  memory_.merge(a, b);
  state_ = std::move(joined);
  refresh(problem_, state_);
  State whole = state_;
  whole.batch.clear();
  if (reorder(problem_, whole, memory_, false)) {
    whole.batch = state_.batch;
    state_ = std::move(whole);
  }
  settle_globals();
  for (Index id = 0; id < k_; ++id)
    for (const Index at : {kept * k_ + id, id * k_ + kept}) data_[at] = allocation_[at] = unknown;
  return kept;
}

}  // namespace bnpvi
