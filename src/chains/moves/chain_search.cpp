#include "chains/moves/chain_search.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "chains/model/chain_memory.h"
#include "inference/learn/visit_batches.h"

namespace bnpvi::chains {

namespace {

constexpr float no_mass = 1e-10f;  // mass of a state in a sequence that counts as none: its entropy is below
                                   // 1e-8
// The rest are guesses.
constexpr double laps_worth = 20, rows_at_least = 4e6;  // limits of the rows that proposals of one lap may
                                                        // visit
constexpr int most_visits = 10;                         // of all sequences before proposals
constexpr double converged_gain = 1e-3;                 // gain of a visit per row
constexpr Index rounds_without_idle = 3;
constexpr double softened = 0.1;  // share of the transitions
constexpr double nearly = 30;     // nats that visits of all rows may add to what windows found
// Below this number of rows windows are not used: whole visits cost little, and births end with lower bounds
// on windows (measured: inst/design/decisions.md).
constexpr Index fewest_rows_of_windows = Index{1} << 13;

}  // namespace

HmmMove::HmmMove(const MoveContext& context, const HmmAlloc& alloc, bool windows)
    : c_(context), alloc_(alloc) {
  now_.label.assign(static_cast<std::size_t>(c_.problem.source.shape().n), -1);
  const bool many = c_.problem.source.shape().n >= fewest_rows_of_windows;
  if (windows && many && alloc.fixed_k() == 0 && alloc.width() == 0 && !c_.problem.source.back() &&
      !c_.problem.source.position()) {
    now_.messages.resize(now_.label.size());
    now_.log_scale.resize(now_.label.size());
  }
  now_.weight.assign(static_cast<std::size_t>(c_.problem.source.shape().n_groups), 1.0);
  now_.at.resize(static_cast<std::size_t>(c_.problem.source.n_batches()));
}

std::unique_ptr<Watch> HmmMove::watch(const State& state, Index b) {
  now_.k = state.globals.effective.k;
  now_.mass.resize(static_cast<std::size_t>(c_.problem.source.shape().n_groups * now_.k));
  const bool all_rows =
      std::none_of(state.batch.begin(), state.batch.end(), [](const auto& part) { return part->settled; });
  now_.at[b] = std::make_shared<const WorkGlobals>(WorkGlobals{state.globals, false, all_rows});
  return std::make_unique<SnapshotWatch>(now_.k, has_windows());
}

void HmmMove::after_batch(Index b, Watch* seen) {
  static_cast<const SnapshotWatch*>(seen)->put_into(now_, *c_.problem.source.open(b));
}

namespace {

double rows_in(const Batch& batch, const std::vector<Index>& units) {
  double rows = 0;
  for (Index unit : units) rows += static_cast<double>(batch.data.starts[unit + 1] - batch.data.starts[unit]);
  return rows;
}

}  // namespace

std::vector<Summary> HmmMove::seen(const State& state, const std::vector<EditedPart>& parts) {
  std::vector<std::unique_ptr<SeenWork>> work;
  for (std::size_t b = 0; b < parts.size(); ++b) {
    const std::vector<Index>& units = parts[b].units;
    const Index batch = static_cast<Index>(b);
    if (units.empty()) continue;
    rows_visited_ += rows_in(*c_.problem.source.open(batch), units);
    const auto& memory = state.batch[b]->memory;
    auto at = std::make_shared<WorkGlobals>(*now_.at[b]);
    at->globals.weights = nullptr;
    at->weigh(c_.problem);
    work.push_back(
        std::make_unique<SeenWork>(batch, std::move(at), units, memory ? part_of(*memory, units) : nullptr));
  }
  do_work(c_.problem, c_.pool, work);
  std::vector<Summary> out(parts.size());
  for (const auto& done : work) out[static_cast<std::size_t>(done->batch)] = std::move(done->found);
  return out;
}

void HmmMove::visit_all(State& state) {
  std::vector<Index> batches;
  std::vector<std::unique_ptr<Watch>> watches;
  for (Index b = 0; b < static_cast<Index>(state.batch.size()); ++b) {
    if (state.batch[b]->settled) continue;
    const std::shared_ptr<const Batch> batch = c_.problem.source.open(b);
    rows_visited_ += rows_in(*batch, batch->units);
    batches.push_back(b);
    watches.push_back(watch(state, b));
  }
  visit_batches(c_.problem, state, batches, c_.visitor, c_.pool, &watches);
  for (std::size_t i = 0; i < batches.size(); ++i) after_batch(batches[i], watches[i].get());
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
  Summary left = allocation_part(state.total);
  for (Index j = state.k() - 1; j >= 0; --j)
    if (left.size(j) < 0.5 && !has_settled(state, j) && !left.is_last_of_class(j)) {
      idle.push_back(j);
      left.drop(j);
    }
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

double HmmMove::allocation_value(const State& state) const {
  return sum_terms(alloc_.elbo_terms(state.total, state.globals));
}

double HmmMove::gain_of_joining(const State& state, Index a, Index b, double data, double present) const {
  Globals merged = alloc_.merged(state.globals, a, b);
  if (alloc_.fixed_k() > 0) merged = alloc_.with_empty_state(std::move(merged));
  return data + (sum_terms(alloc_.elbo_terms(merged.effective, merged)) - present);
}

double HmmMove::reached_without_accepting(const std::function<void()>& proposal) {
  const double visited = rows_visited_;
  reached_ = NAN;
  accepts_ = false;
  proposal();
  accepts_ = true;
  rows_visited_ = visited;
  return reached_;
}

bool HmmMove::spent() const {
  return rows_visited_ >
         std::max(rows_at_least, laps_worth * static_cast<double>(c_.problem.source.shape().n));
}

std::optional<Globals> HmmMove::begin(const State& state, const Changes& changes, const Summary& start,
                                      Index rounds, const Windows* windows) {
  Globals first = alloc_.global_step(start, {});
  if (!windows || !windows->worthwhile()) return first;
  WindowRounds tried(c_, state, changes, *windows);
  tried.begin_at(first);
  const bool rose = tried.rise(state, rounds);
  rows_visited_ += windows->rows() * static_cast<double>(1 + tried.rounds());
  if (!tried.sure()) return first;
  const State& ended = tried.proposed();
  const bool close =
      ended.elbo > state.elbo - nearly && start.k > state.k() && occupied(ended.total) == start.k;
  if (!rose && !close && !lifting_prior(c_.problem, ended, c_.to_beat(state), c_.pool)) return {};
  return ended.globals;
}

bool HmmMove::attempt(State& state, Changes changes, const std::vector<Index>& touched, Index rounds) {
  Summary start = state.total;
  changes.apply(start);
  return attempt(state, std::move(changes), std::move(start), touched, rounds);
}

bool HmmMove::attempt(State& state, Changes changes, Summary start, const std::vector<Index>& touched,
                      Index rounds, const Windows* windows) {
  if (!alloc_.has_places()) {
    const std::vector<Index> order = start.by_size();
    start.permute(order);
    changes.permute(order);
  }
  std::optional<Globals> first = begin(state, changes, start, rounds, windows);
  if (!first) return false;
  std::vector<EditedPart> parts(state.batch.size()), partly(parts.size());
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
    parts[b].rest.owner = state.total.owner;
    if (units.size() == batch->units.size() && !state.batch[b]->settled) continue;
    parts[b].rest = *state.batch[b];
    partly[b].units = units;
  }
  const std::vector<Summary> before = seen(state, partly);
  for (std::size_t b = 0; b < parts.size(); ++b)
    if (!partly[b].units.empty()) parts[b].rest.add(before[b], -1);
  UnitEdit edit(c_, state, std::move(changes), std::move(parts));
  edit.begin_at(std::move(*first));
  const bool rises = edit.rise(state, rounds);
  rows_visited_ += rows * static_cast<double>(edit.rounds());
  reached_ = edit.proposed().elbo;
  if (home_) {
    if (rises) risen_ = std::make_shared<UnitEdit>(*home_, std::move(edit));
    return rises || lifting_prior(c_.problem, edit.proposed(), c_.to_beat(state), c_.pool) != nullptr;
  }
  return accepts_ && settle(state, edit, rises);
}

bool HmmMove::settle(State& state, UnitEdit& edit, bool rises) {
  if (!edit.settle(state, rises)) return false;
  c_.problem.observer.accepted(state);
  visit_all(state);
  return true;
}

}  // namespace bnpvi::chains
