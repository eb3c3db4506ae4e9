#include "chains/chain_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "chains/chain_memory.h"
#include "inference/audit.h"

namespace bnpvi::chains {

namespace {

constexpr float no_mass = 1e-10f;                       // an entropy of less than 1e-8 in a sequence
constexpr double laps_worth = 20, rows_at_least = 4e6;  // of visits that one lap's proposals may cost
constexpr int most_visits = 10;                         // before proposals
constexpr double settled = 1e-3;                        // gain of a visit, per row

// The memory of a batch, in which some sequences were visited again.
std::shared_ptr<const UnitMemory> joined(const std::shared_ptr<const UnitMemory>& batch,
                                         const std::shared_ptr<const UnitMemory>& again) {
  if (!batch || !again) return again;
  return static_cast<const ChainMemory&>(*batch).with(static_cast<const ChainMemory&>(*again));
}

}  // namespace

// Collects a snapshot; chunks share no rows but may share sequences, whose masses are added up afterwards.
class HmmMove::Sink final : public ResponsibilitySink {
 public:
  Sink(std::shared_ptr<const Batch> batch, Snapshot& out) : batch_(std::move(batch)), out_(out) {}

  void begin(Index n_chunks) override { found_.assign(static_cast<std::size_t>(n_chunks), {}); }

  void visit(Index chunk, const Index* rows, const Responsibilities& r, FeatureBlock&) override {
    std::vector<Mass>& found = found_[chunk];
    for (Index i = 0; i < r.n; ++i) {
      const double* p = r.value.data() + i * r.width;
      const int* state = r.sparse ? r.cluster.data() + i * r.width : nullptr;
      const auto number = [state](Index l) { return state ? state[l] : static_cast<int>(l); };
      const Index best = std::max_element(p, p + r.width) - p;
      out_.label[batch_->row_number(rows[i])] = number(best);
      const std::vector<Index>& starts = batch_->data.starts;
      if (found.empty() || rows[i] < starts[found.back().group] || rows[i] >= starts[found.back().group + 1])
        found.push_back({group_of(rows[i]), Vec(static_cast<std::size_t>(r.k), 0.0)});
      for (Index l = 0; l < r.width; ++l) found.back().mass[number(l)] += p[l];
    }
  }

  void finish() {
    const auto mass = [&](Index group) { return out_.mass.begin() + batch_->group_number(group) * out_.k; };
    for (Index unit : batch_->units) std::fill_n(mass(unit), out_.k, 0.0f);
    for (const auto& chunk : found_)
      for (const Mass& m : chunk)
        for (Index j = 0; j < out_.k; ++j) mass(m.group)[j] += static_cast<float>(m.mass[j]);
  }

 private:
  struct Mass {
    Index group;
    Vec mass;
  };

  Index group_of(Index row) const {
    const std::vector<Index>& starts = batch_->data.starts;
    return std::upper_bound(starts.begin(), starts.end(), row) - starts.begin() - 1;
  }

  const std::shared_ptr<const Batch> batch_;
  Snapshot& out_;
  std::vector<std::vector<Mass>> found_;
};

HmmMove::HmmMove(const MoveContext& context, const HmmAlloc& alloc) : c_(context), alloc_(alloc) {
  now_.label.assign(static_cast<std::size_t>(c_.problem.source.shape().n), -1);
  now_.globals.resize(static_cast<std::size_t>(c_.problem.source.n_batches()));
}

HmmMove::~HmmMove() = default;

ResponsibilitySink* HmmMove::watch(const State& state, Index b) {
  now_.k = state.globals.effective.k;
  now_.mass.resize(static_cast<std::size_t>(c_.problem.source.shape().n_groups * now_.k));
  now_.globals[b] = state.globals;
  sink_ = std::make_unique<Sink>(c_.problem.source.open(b), now_);
  return sink_.get();
}

void HmmMove::after_batch(State&, Index) {
  sink_->finish();
  sink_.reset();
}

Visit HmmMove::input(const Batch& batch, const std::vector<Index>& units, const Globals& globals) {
  for (Index unit : units)
    rows_visited_ += static_cast<double>(batch.data.starts[unit + 1] - batch.data.starts[unit]);
  return {batch.data, units, c_.problem.obs, globals, visiting_weights(c_.problem, globals.effective),
          c_.pool};
}

Summary HmmMove::visit(const Batch& batch, const std::vector<Index>& units, const Globals& globals,
                       const UnitMemory* memory, std::optional<Assignments>& out, ResponsibilitySink* sink) {
  AssignmentSink audited(out ? &*out : nullptr, batch, sink);
  Visit in = input(batch, units, globals);
  in.sink = out ? &audited : sink;
  in.memory = memory;
  return alloc_.local_step(in);
}

// What a batch's last visit, at these globals, found of some of its sequences.
Summary HmmMove::seen(const Batch& batch, const Summary& summary, const std::vector<Index>& units,
                      const Globals& globals) {
  Visit in = input(batch, units, globals);
  const auto* memory = static_cast<const ChainMemory*>(summary.memory.get());
  const auto part = memory ? memory->part(units) : nullptr;
  in.memory = part.get();
  return alloc_.found_before(in);
}

void HmmMove::visit_all(State& state) {
  for (std::size_t b = 0; b < state.batch.size(); ++b) {
    const std::shared_ptr<const Batch> batch = c_.problem.source.open(static_cast<Index>(b));
    auto fresh =
        std::make_shared<Summary>(visit(*batch, batch->units, state.globals, state.batch[b]->memory.get(),
                                        state.assignments, watch(state, static_cast<Index>(b))));
    fresh->base = state.batch[b]->base;
    state.batch[b] = std::move(fresh);
    after_batch(state, static_cast<Index>(b));
  }
  resum(c_.problem, state);
  refresh(c_.problem, state);
}

bool HmmMove::settle(State& state) {
  double rows = 0;
  bool still = false;
  for (double size : state.total.sizes()) rows += size;
  for (int i = 0; i < most_visits && !still; ++i) {
    const double before = state.elbo;
    visit_all(state);
    still = state.elbo - before < settled * rows;
  }
  drop_idle(state);
  return still;
}

void HmmMove::drop_idle(State& state) {
  constexpr Index rounds_tried = 3;
  std::vector<Index> idle;  // last first, so that numbers stay valid
  for (Index j = state.k() - 1; j >= 0; --j)
    if (state.total.size(j) < 0.5) idle.push_back(j);
  if (idle.empty() || static_cast<Index>(idle.size()) == state.k()) return;
  Proposal p;
  p.set_change(state.total, [idle](auto& s) {
    for (Index j : idle) s.drop(j);
  });
  p.remember = [idle](MoveMemory& memory) {
    for (Index j : idle) memory.drop(j);
  };
  p.touched = touching(idle);
  attempt(state, std::move(p), rounds_tried);
}

std::vector<Index> HmmMove::touching(const std::vector<Index>& states) const {
  std::vector<Index> out;
  for (Index g = 0; g < c_.problem.source.shape().n_groups; ++g)
    if (std::any_of(states.begin(), states.end(),
                    [&](Index j) { return now_.mass[g * now_.k + j] > no_mass; }))
      out.push_back(g);
  return out;
}

bool HmmMove::spent() const {
  return rows_visited_ >
         std::max(rows_at_least, laps_worth * static_cast<double>(c_.problem.source.shape().n));
}

bool HmmMove::attempt(State& state, Proposal proposal, Index rounds) {
  std::vector<Index> order(static_cast<std::size_t>(proposal.start.k));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return proposal.start.size(a) > proposal.start.size(b); });
  proposal.start.permute(order);

  State proposed;
  proposed.total = std::move(proposal.start);
  std::vector<std::vector<Index>> again;
  std::vector<Summary> rest;
  for (std::size_t b = 0; b < state.batch.size(); ++b) {
    const std::shared_ptr<const Batch> batch = c_.problem.source.open(static_cast<Index>(b));
    const std::vector<Index>& units = batch->units;
    again.emplace_back();
    std::copy_if(units.begin(), units.end(), std::back_inserter(again[b]), [&](Index unit) {
      return std::binary_search(proposal.touched.begin(), proposal.touched.end(), batch->group_number(unit));
    });
    rest.emplace_back(state.total.shape, state.k());
    rest[b].base = state.batch[b]->base;
    if (again[b].size() < units.size()) {
      rest[b] = *state.batch[b];
      if (!again[b].empty()) rest[b].add(seen(*batch, *state.batch[b], again[b], now_.globals[b]), -1);
    }
    proposal.change(rest[b]);
    rest[b].permute(order);
  }
  proposed.batch.resize(rest.size());
  std::vector<std::shared_ptr<const UnitMemory>> touched(rest.size());
  proposed.assignments = state.assignments;
  if (proposed.assignments) {
    proposal.reassign(*proposed.assignments);
    proposed.assignments->permute(order);
  }
  proposed.globals = alloc_.global_step(proposed.total, {});
  double previous = -std::numeric_limits<double>::infinity();
  for (Index round = 0; round < rounds; ++round) {
    for (std::size_t b = 0; b < rest.size(); ++b) {
      auto s = std::make_shared<Summary>(rest[b]);
      if (!again[b].empty()) {
        const std::shared_ptr<const Batch> batch = c_.problem.source.open(static_cast<Index>(b));
        const Summary found =
            visit(*batch, again[b], proposed.globals, touched[b].get(), proposed.assignments);
        s->add(found);
        touched[b] = found.memory;
        s->memory = joined(rest[b].memory, found.memory);
      }
      proposed.batch[b] = std::move(s);
    }
    resum(c_.problem, proposed);
    refresh(c_.problem, proposed);
    if (proposed.elbo > state.elbo + rounding_of(state.elbo)) {
      proposal.remember(c_.memory);
      c_.memory.permute(order);
      state = std::move(proposed);
      if (c_.problem.audit) c_.problem.audit->accept(state);
      visit_all(state);
      return true;
    }
    const double gap = state.elbo - proposed.elbo, step = proposed.elbo - previous;
    if (gap > step * static_cast<double>(rounds - round)) return false;
    previous = proposed.elbo;
  }
  return false;
}

}  // namespace bnpvi::chains
