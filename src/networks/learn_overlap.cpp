#include "networks/learn_overlap.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "networks/other_starts.h"

namespace bnpvi::networks {

namespace {

constexpr Index laps_of_trial = 15;  // before a proposal is compared; a guess
constexpr Index laps_of_groups = 6;  // the same of groups; a guess
constexpr Index laps_of_round = 10;  // before a round of moves, at most; a guess
constexpr Index laps_between = 2;  // the same in a large network, where a round has many laps itself; a guess
constexpr Index trials_at_once = 4;  // from one state, for any number of threads; a guess
// Share of a membership that a soft split leaves with the node's own half: not all, as pairs without a link
// are slow to take up a membership that is 0. Two halves of the political blogs under the relational model
// ended 830 lower from 1 than from 0.9.
constexpr double soft = 0.8;
constexpr double small = 1e4;  // links and nodes up to which disturbances are tried; a guess
constexpr double same = 0.1;   // bounds in nats that differ less belong to one optimum; a guess

double bound_anew(const Overlap& state) {
  const auto copy = state.copy();
  copy->refresh();
  return copy->bound();
}

}  // namespace

OverlapFit::OverlapFit(std::unique_ptr<Overlap> start, const OverlapOptions& options, Pool& pool)
    : now_(std::move(start)),
      options_(options),
      pool_(pool),
      local_({options.births, options.merges, options.deletes, options.seed}),
      laps_left_(laps_of_round) {}

double OverlapFit::units() const { return now_->links().units(); }
bool OverlapFit::settles(double gain) const { return gain <= options_.tol * units(); }

// True in a large network if the bound lacks more than 20 times the better of the last two rounds' gains plus
// a tenth of all gains so far (for what disturbances may bring); guesses.
bool OverlapFit::is_hopeless() const {
  const double reach = 20 * std::max(last_gain_, gain_before_) + (value_ - undivided_value_) / 10;
  return is_large() && value_ + reach < options_.beat;
}

LapRecord OverlapFit::lap(Index n) {
  LapRecord record;
  pool_.poll();
  if (stage_ == Stage::begun)
    stage_ = Stage::first;
  else if (laps_left_ == 0 && stage_ != Stage::last)
    advance(record);
  const double before = now_->bound();
  now_->lap();
  value_ = now_->bound();
  if (stage_ != Stage::last) laps_left_ = settles(value_ - before) ? 0 : laps_left_ - 1;
  record.lap = n;
  record.elbo = value_;
  record.k = now_->k();
  return record;
}

bool OverlapFit::is_back() const {
  return now_->k() == options_.k_before && std::abs(value_ - options_.bound_before) < same;
}

void OverlapFit::advance(LapRecord& record) {
  if (stage_ == Stage::first) {
    stage_ = Stage::rounds;
    undivided_value_ = value_;
    if (options_.births && now_->blocks()) from_partition(record);
    if (options_.births && now_->k() == 1 && now_->capabilities().local && is_large())
      undivided_ = now_->copy();
  }
  if (is_hopeless() || is_back()) {
    stage_ = Stage::last;
    return;
  }
  if (stage_ == Stage::rounds && can_move()) {
    if (!round(record)) stage_ = Stage::rest;
    return;
  }
  const bool all_moves = options_.births && options_.merges && options_.deletes;
  for (Index idle = 0; all_moves && work(1) <= small && idle < options_.disturbances; ++idle) {
    const double before = value_;
    disturb();
    if (value_ < before + same) continue;
    stage_ = Stage::rounds;
    laps_left_ = laps_of_round;
    return;
  }
  stage_ = Stage::last;
}

bool OverlapFit::round(LapRecord& record) {
  const double before = value_;
  const bool goes_on = moves_of_round(record);
  gain_before_ = last_gain_;
  last_gain_ = value_ - before;
  return goes_on || !settles(last_gain_);
}

// Returns true if the round was cut short.
bool OverlapFit::moves_of_round(LapRecord& record) {
  ++round_;
  laps_left_ = is_large() ? laps_between : laps_of_round;
  if (options_.births) {
    all_split(record);
    if (undivided_ && record.births == 0) from_groups(record);
    // In a large network other moves wait until splits of all communities at once gain no more.
    if (record.births > 0 && is_large()) return true;
  }
  if (is_large() && now_->capabilities().local) {
    const double gain = local_.run(
        *now_, static_cast<std::uint64_t>(round_), 1e-9 * (1 + std::abs(value_)), [&] { pool_.poll(); },
        record);
    if (gain > 0) options_.observer->replaced(value_, value_ + gain, [&] { return bound_anew(*now_); });
    value_ += gain;
  } else {
    if (options_.births) single_splits(record);
    if (options_.merges && now_->k() > 1) joins(record);
    if (options_.deletes && now_->k() > 1) deletes(record);
  }
  if (options_.reorder && now_->k() > 1) reorder();
  return false;
}

// Tries the partition with the largest log joint that a search over hard labels finds, where the model has
// hard labels.
void OverlapFit::from_partition(LapRecord& record) {
  const Shares shares = softened(best_partition(*now_, options_.seed, pool_), soft);
  ++record.births_tried;
  record.births += best_of(1, [&](Index) {
    State next = now_->anew(shares);
    run_laps(*next, laps_of_trial);
    return next;
  });
}

// Tries groups of the undivided network that are divided again and again without laps in between: first laps
// mix what should be separate where there is much noise. Their number is doubled each time, until this has
// failed twice. Where memberships overlap much, splits with laps end higher: the better of the two results is
// kept.
void OverlapFit::from_groups(LapRecord& record) {
  const State base = std::move(undivided_);
  Stream random = stream(0);
  Groups groups(base->links(), 4, random);
  State best;
  double most = -HUGE_VAL;
  for (Index k = 4, idle = 0; idle < 2 && k <= base->links().n() / 2; k *= 2, ++idle) {
    if (!grow_groups(*base, groups, k)) break;
    ++record.births_tried;
    State next = base->copy();
    run_laps(*next, laps_of_groups);
    if (next->bound() <= most) continue;
    most = next->bound();
    best = std::move(next);
    idle = -1;
  }
  record.births += best_of(1, [&](Index) { return std::move(best); });
}

// Searches from softened memberships after some communities were joined or divided, several searches at once;
// the best replaces the present state if it ends higher. A single community can only be divided.
void OverlapFit::disturb() {
  ++round_;
  OverlapOptions inner = options_;
  inner.disturbances = 0;
  inner.beat = -HUGE_VAL;
  inner.observer = &nobody;
  inner.keep_interrupted = false;
  inner.bound_before = value_;
  inner.k_before = now_->k();
  inner.trials = std::min<Index>(1, options_.trials);
  best_of(trials_at_once, [&](Index t) {
    Stream random = stream(t);
    const Shares shares = softened(disturbed(*now_, t, random), soft);
    if (shares.k == 1 && now_->k() == 1) return State();
    OverlapOptions own = inner;
    own.seed = random.next();
    OverlapFit search(now_->anew(shares), own, pool_);
    Course course;
    drive(search, course, own, pool_);
    return search.take_state();
  });
}

void OverlapFit::run_laps(Overlap& state, Index laps) {
  for (Index lap = 0; lap < laps; ++lap) {
    pool_.poll();
    state.lap();
  }
}

// Runs make(0) .. make(n − 1) at once; the best result replaces the present state if it is better. make() may
// return null.
template <class F>
bool OverlapFit::best_of(Index n, F make) {
  std::vector<State> made(static_cast<std::size_t>(n));
  Vec value(made.size(), -HUGE_VAL);
  pool_.run(n, [&](Index t) {
    made[t] = make(t);
    const double bound = made[t] ? made[t]->bound() : -HUGE_VAL;
    if (std::isfinite(bound)) value[t] = bound;
  });
  const auto best = std::max_element(value.begin(), value.end());
  if (!(*best > value_ + 1e-9 * (1 + std::abs(value_)))) return false;
  State& next = made[static_cast<std::size_t>(best - value.begin())];
  options_.observer->replaced(value_, *best, [&] { return bound_anew(*next); });
  now_ = std::move(next);
  value_ = *best;
  return true;
}

// Runs trials from the present state, some at once; the best of those that gain replaces it. change(state, t)
// returns false when there is nothing to try. Returns the number of accepted trials.
template <class F>
Index OverlapFit::tried(Index laps, Index n, F change) {
  Index accepted = 0;
  for (Index first = 0; first < n; first += trials_at_once) {
    const bool better = best_of(std::min(trials_at_once, n - first), [&](Index t) {
      State next = now_->copy();
      if (!change(*next, first + t)) return State();
      run_laps(*next, laps);
      return next;
    });
    if (!better) continue;
    ++accepted;
    if (now_->k() != k_of_plan_) break;  // numbers of the planned changes are no longer valid
  }
  return accepted;
}

Stream OverlapFit::stream(Index trial) const {
  return Stream(options_.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(round_),
                static_cast<std::uint64_t>(trial));
}

// Cost of a lap with k communities: of a community's part in each link, and in each node, that may be
// visited.
double OverlapFit::work(Index k) const {
  return static_cast<double>(now_->links().n_links() + now_->links().n()) * static_cast<double>(k);
}

// Number of trials of each kind: as many as the options allow in networks of some thousand links, fewer in
// large ones, where splits of all communities at once do most of the work.
Index OverlapFit::trials() const {
  constexpr double most = 2e7;  // work of the laps before one comparison, all trials of a kind; a guess
  return std::clamp(static_cast<Index>(most / work(now_->k())), std::min<Index>(2, options_.trials),
                    options_.trials);
}

// Splits every community that has two halves, runs laps, and repeats this: trial t splits t + 1 times,
// several times only while laps stay cheap.
void OverlapFit::all_split(LapRecord& record) {
  constexpr double cheap = 1e7;  // a guess
  Index most_times = 1;
  while (!is_large() && most_times < 3 && work(now_->k() << (most_times + 1)) < cheap) ++most_times;
  k_of_plan_ = now_->k();
  record.births_tried += most_times;
  record.births += tried(laps_of_trial, most_times, [&](Overlap& state, Index t) {
    Stream random = stream(t);
    for (Index time = 0; time <= t; ++time) {
      const auto nodes = members_of(state);
      std::vector<Division> divisions;
      for (Index c = 0; c < state.k(); ++c) {
        std::vector<int> leaves = halves(state, nodes, state.owner(), c, random);
        if (!leaves.empty()) divisions.push_back({c, std::move(leaves)});
      }
      if (divisions.empty()) return time > 0;
      state.split(divisions, soft);
      run_laps(state, laps_of_trial);
      drop_small(state);
    }
    return true;
  });
}

void OverlapFit::single_splits(LapRecord& record) {
  k_of_plan_ = now_->k();
  const auto nodes = members_of(*now_);
  std::vector<Index> order(static_cast<std::size_t>(now_->k()));
  std::iota(order.begin(), order.end(), 0);
  Stream random(options_.seed, Purpose::batch_order, static_cast<std::uint64_t>(round_));
  draw_to_front(order, now_->k(), random);
  // Each community is split twice: softly, and sharply (share 1).
  const Index n = 2 * std::min(trials(), now_->k());
  record.births_tried += n;
  record.births += tried(laps_of_trial, n, [&](Overlap& state, Index t) {
    Stream own = stream(10 + t);
    const Index k = order[t / 2];
    const std::vector<int> leaves = halves(*now_, nodes, now_->owner(), k, own);
    if (leaves.empty()) return false;
    state.split({{k, leaves}}, t % 2 ? 1 : soft);
    return true;
  });
}

void OverlapFit::joins(LapRecord& record) {
  Index accepted = 0;
  do {
    k_of_plan_ = now_->k();
    if (now_->k() < 2) break;
    const std::vector<ClosePair> pairs = close_pairs(*now_);
    const Index n = std::min(trials(), static_cast<Index>(pairs.size()));
    record.merges_tried += n;
    accepted = tried(laps_of_trial, n, [&](Overlap& state, Index t) {
      state.merge(pairs[t].a, pairs[t].b);
      return true;
    });
    record.merges += accepted;
  } while (accepted > 0);
}

void OverlapFit::deletes(LapRecord& record) {
  Index accepted = 0;
  do {
    k_of_plan_ = now_->k();
    if (now_->k() < 2) break;
    std::vector<Index> order = ascending(masses(*now_));
    const auto stays = [&](Index k) { return !can_go(now_->owner(), k); };
    order.erase(std::remove_if(order.begin(), order.end(), stays), order.end());
    const Index n = std::min(trials(), static_cast<Index>(order.size()));
    record.deletes_tried += n;
    accepted = tried(laps_of_trial, n, [&](Overlap& state, Index t) {
      state.drop(order[t]);
      return true;
    });
    record.deletes += accepted;
  } while (accepted > 0);
}

void OverlapFit::reorder() {
  std::vector<Index> order = ascending(masses(*now_));
  std::reverse(order.begin(), order.end());
  if (std::is_sorted(order.begin(), order.end())) return;
  k_of_plan_ = now_->k();
  tried(2, 1, [&](Overlap& state, Index) {
    state.permute(order);
    return true;
  });
}

}  // namespace bnpvi::networks
