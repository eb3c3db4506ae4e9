#include "chains/chain_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "chains/chain_memory.h"
#include "inference/unit_edit.h"

namespace bnpvi::chains {

namespace {

constexpr float no_mass = 1e-10f;  // of a state in a sequence; its entropy there is below 1e-8
// The rest are guesses.
constexpr double laps_worth = 20, rows_at_least = 4e6;  // that the proposals of one lap may visit
constexpr int most_visits = 10;                         // of all sequences before proposals
constexpr double converged_gain = 1e-3;                 // of a visit, per row
constexpr Index rounds_without_idle = 3;
constexpr double softened = 0.1;  // share of the transitions

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
    for (Index unit : batch_->units) {
      std::fill_n(mass(unit), out_.k, 0.0f);
      out_.weight[batch_->group_number(unit)] = batch_->data.weight_of_group(unit);
    }
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
  now_.weight.assign(static_cast<std::size_t>(c_.problem.source.shape().n_groups), 1.0);
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
  AssignmentSink observed(out ? &*out : nullptr, batch, sink);
  Visit in = input(batch, units, globals);
  in.sink = out ? &observed : sink;
  in.memory = memory;
  return alloc_.local_step(in);
}

// What a batch's last visit, at these globals, found of some of its sequences.
Summary HmmMove::seen(const Batch& batch, const Summary& summary, const std::vector<Index>& units,
                      const Globals& globals) {
  Visit in = input(batch, units, globals);
  const auto part = summary.memory ? part_of(*summary.memory, units) : nullptr;
  in.memory = part.get();
  return alloc_.found_before(in);
}

void HmmMove::visit_all(State& state) {
  for (std::size_t b = 0; b < state.batch.size(); ++b) {
    if (state.batch[b]->settled) continue;
    const std::shared_ptr<const Batch> batch = c_.problem.source.open(static_cast<Index>(b));
    auto fresh =
        std::make_shared<Summary>(visit(*batch, batch->units, state.globals, state.batch[b]->memory.get(),
                                        state.assignments, watch(state, static_cast<Index>(b))));
    fresh->log_base = state.batch[b]->log_base;
    state.batch[b] = std::move(fresh);
    after_batch(state, static_cast<Index>(b));
  }
  resum(c_.problem, state);
  refresh(c_.problem, state);
}

bool HmmMove::visit_until_converged(State& state) {
  double rows = 0;
  bool converged = false;
  for (double size : state.total.sizes()) rows += size;
  for (int i = 0; i < most_visits && !converged; ++i) {
    const double before = state.elbo;
    visit_all(state);
    converged = state.elbo - before < converged_gain * rows;
  }
  drop_idle(state);
  return converged;
}

void HmmMove::drop_idle(State& state) {
  if (alloc_.fixed_k() > 0) return;
  std::vector<Index> idle;  // last first, so that numbers stay valid
  for (Index j = state.k() - 1; j >= 0; --j)
    if (state.total.size(j) < 0.5 && !has_settled(state, j)) idle.push_back(j);
  if (idle.empty() || static_cast<Index>(idle.size()) == state.k()) return;
  Changes changes;
  for (Index j : idle) changes.drop(j);
  attempt(state, changes, touching(idle), rounds_without_idle);
}

std::vector<Index> HmmMove::touching(const std::vector<Index>& states) const {
  std::vector<Index> out;
  for (Index g = 0; g < c_.problem.source.shape().n_groups; ++g)
    if (std::any_of(states.begin(), states.end(),
                    [&](Index j) { return now_.mass[g * now_.k + j] > no_mass; }))
      out.push_back(g);
  return out;
}

void HmmMove::soften(Summary& start) const {
  Summary independent(start.shape, start.k);
  independent.obs = start.obs;
  alloc_.complete_start(independent, std::accumulate(start.extra.begin(), start.extra.end(), 0.0));
  const auto mix = [](Vec& to, const Vec& with) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += softened * (with[i] - to[i]);
  };
  mix(start.pair, independent.pair);
  mix(start.extra, independent.extra);
}

std::vector<std::pair<Index, Index>> HmmMove::pairs_by_loss(const State& state) const {
  const Index k = state.k();
  const Vec gain = evidence_of_merging(c_.problem.obs, state.total, c_.pool);
  std::vector<std::pair<Index, Index>> out;
  for (Index a = 0; a < k; ++a)
    for (Index b = a + 1; b < k; ++b)
      if (may_join(state, a, b)) out.push_back({a, b});
  std::stable_sort(out.begin(), out.end(), [&](const auto& x, const auto& y) {
    return gain[x.first * k + x.second] > gain[y.first * k + y.second];
  });
  return out;
}

bool HmmMove::spent() const {
  return rows_visited_ >
         std::max(rows_at_least, laps_worth * static_cast<double>(c_.problem.source.shape().n));
}

bool HmmMove::attempt(State& state, Changes changes, const std::vector<Index>& touched, Index rounds) {
  Summary start = state.total;
  changes.apply(start);
  return attempt(state, std::move(changes), std::move(start), touched, rounds);
}

bool HmmMove::attempt(State& state, Changes changes, Summary start, const std::vector<Index>& touched,
                      Index rounds) {
  const std::vector<Index> order = start.by_size();
  start.permute(order);
  changes.permute(order);
  std::vector<EditedPart> parts(state.batch.size());
  double rows = 0;
  for (std::size_t b = 0; b < parts.size(); ++b) {
    const std::shared_ptr<const Batch> batch = c_.problem.source.open(static_cast<Index>(b));
    std::vector<Index>& units = parts[b].units;
    std::copy_if(batch->units.begin(), batch->units.end(), std::back_inserter(units), [&](Index unit) {
      return std::binary_search(touched.begin(), touched.end(), batch->group_number(unit));
    });
    for (Index unit : units)
      rows += static_cast<double>(batch->data.starts[unit + 1] - batch->data.starts[unit]);
    parts[b].rest = Summary(state.total.shape, state.k());
    if (units.size() == batch->units.size() && !state.batch[b]->settled) continue;
    parts[b].rest = *state.batch[b];
    if (!units.empty()) parts[b].rest.add(seen(*batch, *state.batch[b], units, now_.globals[b]), -1);
  }
  UnitEdit edit(c_, state, std::move(changes), std::move(parts));
  edit.begin_at(alloc_.global_step(start, {}));
  const bool accepted = edit.climb(state, rounds);
  rows_visited_ += rows * static_cast<double>(edit.rounds());
  if (!accepted) return false;
  c_.problem.observer.accepted(state);
  visit_all(state);
  return true;
}

}  // namespace bnpvi::chains
