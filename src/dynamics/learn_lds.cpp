#include "dynamics/learn_lds.h"

#include <algorithm>
#include <cmath>

#include "dynamics/archived_lds.h"
#include "dynamics/fewer_modes.h"
#include "dynamics/rotation.h"
#include "dynamics/window_birth.h"
#include "inference/learn/archived.h"
#include "inference/learn/rename.h"

namespace bnpvi::dynamics {

namespace {

// Number of births tried per lap; and number of consecutive failures after which a fit may end: 60, or fewer
// where sequences are long, as a try costs some 30 visits of a sequence. (Rotations with much noise,
// inst/bench/lds.R: with 16 the median bound was 20 to 30 lower, with 200 up to 4 higher in three times the
// time.)
constexpr Index tries_of_lap = 8;
Index failures_of(const Series& series) {
  constexpr double most = 60, fewest = 8, rows = 10000;
  const double length = static_cast<double>(series.n) / static_cast<double>(series.n_groups());
  return static_cast<Index>(std::clamp(most * rows / length, fewest, most));
}
double weighted_rows(const Series& series) {
  double rows = 0;
  for (Index g = 0; g < series.n_groups(); ++g)
    rows += series.weight[g] * static_cast<double>(series.starts[g + 1] - series.starts[g]);
  return rows;
}
constexpr Index pairs_of_lap = 6, deletes_of_lap = 2;  // tried with rounds of all rows: guesses
constexpr double settled = 1;                          // gain of a lap in nats below which moves are tried: a
                                                       // guess

// W_j of all emissions.
Vec precisions_of(const LdsState& state) {
  Vec out;
  for (const Emission& one : state.emission)
    out.insert(out.end(), one.mean_precision().begin(), one.mean_precision().end());
  return out;
}

}  // namespace

LdsFit::LdsFit(const LdsProblem& problem, LdsState start, const LearnOptions& options)
    : problem_(problem),
      options_(options),
      failures_needed_(failures_of(problem.series)),
      units_(weighted_rows(problem.series)),
      state_(std::move(start)) {}

LdsFit::LdsFit(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, Reader& in,
               const LearnOptions& options)
    : LdsFit(problem, read_state(problem, std::move(alloc), in), options) {
  gain_ = in.number();
  failures_ = in.integer();
  tried_ = in.integer();
  joined_ = in.integer();
  exchanged_ = in.number();
  beyond_ = in.number();
  wait_ = in.integer();
  whole_ = true;
}

void LdsFit::write(Writer& out) const {
  bnpvi::write(out, concentrations_of(*state_.alloc).learned_fields());
  dynamics::write(out, state_);
  out.number(gain_);
  out.integer(failures_);
  out.integer(tried_);
  out.integer(joined_);
  out.number(exchanged_);
  out.number(beyond_);
  out.integer(wait_);
}

// For a series 6,000 of its standard deviations from the origin laps lost 2e-8; a change of the last bits of
// its data moves the bound by 5e-7.
double LdsFit::slack() const { return 1e-7 * (1 + std::abs(state_.elbo)); }

LapRecord LdsFit::lap(Index number) {
  LapRecord record;
  record.lap = number;
  const bool was_quiet = quiet();
  const double before = state_.elbo;
  const Vec noise = precisions_of(state_);
  exchange_names();
  smooth(problem_, state_, nullptr);
  assign(problem_, state_);
  one_round(problem_, state_);
  if (!problem_.emission.identity) rotate(problem_, state_);
  go_beyond(noise);
  bool exchanged = false;
  if (number > 1 && (gain_ < settled || state_.elbo - before < settled)) {
    moves_of_modes(record);
    births(record);
    if (quiet()) fewer(record);
    exchanged = exchange_with_rounds();
  }
  gain_ = state_.elbo - before;
  still_ = was_quiet && record.births + record.deletes + record.merges == 0 && !exchanged && number > 2;
  whole_ = true;
  record.elbo = state_.elbo;
  record.k = state_.k;
  return record;
}

bool LdsFit::may_have_births() const {
  return options_.moves.birth && !problem_.units.empty() && has_room(state_);
}

// Coordinate ascent separates confounded noise and innovations slowly. This extrapolates: a step of log W_j
// that is beyond_ times the last one, kept if the bound is higher.
void LdsFit::go_beyond(const Vec& before) {
  if (!problem_.emission.known.empty() || --wait_ > 0) return;
  Vec factor = precisions_of(state_);
  double largest = 0;
  for (std::size_t j = 0; j < factor.size(); ++j) {
    const double step = std::log(factor[j] / before[j]);
    largest = std::max(largest, std::abs(step));
    factor[j] = std::exp(std::clamp(beyond_ * step, -2.0, 2.0));
  }
  if (!(largest > 1e-6)) return;
  LdsState tried = state_;
  const Index d = problem_.series.d;
  for (std::size_t k = 0; k < tried.emission.size(); ++k)
    tried.emission[k] = tried.emission[k].with_noise(factor.data() + static_cast<Index>(k) * d);
  smooth(problem_, tried, nullptr);
  assign(problem_, tried);
  tried.seen = emission_of(problem_, tried.paths);
  renew(problem_, tried);
  if (tried.elbo > state_.elbo) {
    accept(problem_, state_, std::move(tried));
    beyond_ = std::min(2 * beyond_, 16.0);
  } else {
    beyond_ = 2;
    wait_ = 4;
  }
}

// Exchanges the known noise of modes at fixed q(x) and q(z).
void LdsFit::exchange_names() {
  if (!state_.total.names.any()) return;
  LdsState tried = state_;
  rename(problem_.obs, tried.elbo, tried.total);
  if (tried.total.names.of == state_.total.names.of) return;
  renew(problem_, tried);
  assign(problem_, tried);
  renew(problem_, tried);
  if (tried.elbo > state_.elbo) accept(problem_, state_, std::move(tried));
}

// Exchanges the known noise of pairs of modes, with rounds of q(x) and q(z) afterwards: both adapt to the
// noise that a mode has, so that the bound at fixed ones seldom shows the gain.
bool LdsFit::exchange_with_rounds() {
  if (!state_.total.names.any() || state_.elbo < exchanged_ + settled) return false;
  const auto noise = [&](Index j) {
    return problem_.emission.of_mode(state_.total.names.of_cluster(j)).known;
  };
  for (Index a = 0; a < state_.k; ++a)
    for (Index b = a + 1; b < state_.k; ++b)
      if (noise(a) != noise(b) && try_exchange(problem_, state_, a, b)) return true;
  exchanged_ = state_.elbo;
  return false;
}

// Merges, deletes and reordering of modes, and learning of the prior's concentrations, all at fixed q(x).
void LdsFit::moves_of_modes(LapRecord& record) {
  const bool any = options_.moves.merge || options_.moves.remove || options_.moves.reorder;
  if (!any || problem_.units.empty() || state_.k < 2 || state_.total.names.any()) return;
  const Dataset data = expected_rows(problem_, state_);
  const MemorySource source(data, {problem_.units});
  const Problem modes{source, problem_.obs, *state_.alloc, problem_.seed, nobody, &problem_.pool};
  State at;
  at.total = state_.total;
  at.batch = {std::make_shared<const Summary>(state_.total)};
  at.globals = state_.globals;
  LdsState tried = state_;
  refresh(modes, at);
  LearnOptions few = options_;
  few.max_laps = state_.alloc->fixed_k() > 0 ? 3 : 2;
  few.moves.birth = state_.alloc->fixed_k() > 0 && options_.moves.birth;
  few.keep_interrupted = false;
  const auto fit = memoized_fit(modes, begin(modes, std::move(at)), few, problem_.pool);
  Course course;
  drive(*fit, course, few, problem_.pool);
  for (const LapRecord& lap : course.trace) {
    record.merges += lap.merges;
    record.deletes += lap.deletes;
    record.merges_tried += lap.merges_tried;
    record.deletes_tried += lap.deletes_tried;
  }
  if (course.reason == "numerical") return;
  if (fit->learned_alloc()) tried.alloc = fit->learned_alloc();
  tried.k = fit->state().k();
  tried.r.assign(static_cast<std::size_t>(problem_.series.n * tried.k), 0.0);
  tried.globals = fit->state().globals;
  tried.globals.weights = nullptr;
  assign(problem_, tried);
  renew(problem_, tried);
  if (tried.elbo >= state_.elbo) accept(problem_, state_, std::move(tried));
}

void LdsFit::births(LapRecord& record) {
  while (may_have_births() && !quiet() &&
         record.births_tried < std::min(tries_of_lap, options_.moves.max_births)) {
    ++record.births_tried;
    Stream stream(problem_.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(tried_++));
    if (try_window_birth(problem_, state_, stream)) {
      ++record.births;
      failures_ = 0;
      return;
    }
    ++failures_;
  }
}

// Once births have failed: tries joins and deletes in which q(x) changes, too; at most one is made per lap.
// After a lap without any, they are not tried again until the number of modes changes.
void LdsFit::fewer(LapRecord& record) {
  Index used = state_.k;
  if (state_.alloc->fixed_k() > 0)
    for (Index k = 0; k < state_.k; ++k) used -= state_.total.size(k) < idle_rows;
  if (used < 2 || joined_ == used || state_.total.names.any()) return;
  bool found = false;
  if (options_.moves.merge)
    for (const auto& [a, b] :
         pairs_to_join(problem_, state_, std::min(pairs_of_lap, options_.moves.max_merges))) {
      ++record.merges_tried;
      if (!try_join(problem_, state_, a, b)) continue;
      ++record.merges;
      found = true;
      break;
    }
  const std::vector<Index> by_size = state_.total.by_size();
  if (options_.moves.remove)
    for (Index i = 0; !found && i < std::min(deletes_of_lap, used); ++i) {
      ++record.deletes_tried;
      if (!try_join(problem_, state_, by_size[used - 1 - i], state_.k)) continue;
      ++record.deletes;
      found = true;
    }
  joined_ = found ? 0 : used;
  if (found) failures_ = 0;
}

}  // namespace bnpvi::dynamics
