#include "dynamics/learn_lds.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "dynamics/fewer_modes.h"
#include "dynamics/rotation.h"
#include "dynamics/window_birth.h"
#include "inference/start.h"

namespace bnpvi::dynamics {

namespace {

// Tries of births a lap; and windows that are tried in vain, on end, before a fit may end: 60, or fewer where
// sequences are long, as a try costs some 30 visits of a sequence. (Rotations with much noise,
// inst/bench/lds.R: with 16 the median bound was 20 to 30 lower, with 200 up to 4 higher in three times the
// time.)
constexpr Index tries_of_lap = 8;
Index failures_of(const Series& series) {
  constexpr double most = 60, fewest = 8, rows = 10000;
  const double length = static_cast<double>(series.n) / static_cast<double>(series.n_groups());
  return static_cast<Index>(std::clamp(most * rows / length, fewest, most));
}
constexpr Index pairs_of_lap = 6, deletes_of_lap = 2;  // tried with rounds of all rows: guesses
constexpr double settled = 1;                          // nats a lap below which moves are tried: a guess

class Learner {
 public:
  Learner(const LdsProblem& problem, LdsState& state, const LearnOptions& options)
      : problem_(problem), state_(state), options_(options), failures_needed_(failures_of(problem.series)) {}

  bool quiet() const { return !may_have_births() || failures_ >= failures_needed_; }

  LapRecord lap(Index number, double last_gain) {
    LapRecord record;
    record.lap = number;
    const double before = state_.elbo;
    const Vec noise = state_.emission.mean_precision();
    smooth(problem_, state_, nullptr);
    assign(problem_, state_);
    one_round(problem_, state_);
    if (!problem_.emission.identity) rotate(problem_, state_);
    go_beyond(noise);
    if (number > 1 && (last_gain < settled || state_.elbo - before < settled)) {
      moves_of_modes(record);
      births(record);
      if (quiet()) fewer(record);
    }
    record.elbo = state_.elbo;
    record.k = state_.k;
    return record;
  }

 private:
  bool may_have_births() const {
    return options_.moves.birth && !problem_.units.empty() && has_room(state_);
  }

  // Noise and innovations are told apart slowly where they are confounded: a step of log W_j as long as β
  // times the last one, kept if the bound is higher.
  void go_beyond(const Vec& before) {
    if (!problem_.emission.known.empty() || --wait_ > 0) return;
    Vec factor = state_.emission.mean_precision();
    double largest = 0;
    for (std::size_t j = 0; j < factor.size(); ++j) {
      const double step = std::log(factor[j] / before[j]);
      largest = std::max(largest, std::abs(step));
      factor[j] = std::exp(std::clamp(beyond_ * step, -2.0, 2.0));
    }
    if (!(largest > 1e-6)) return;
    LdsState tried = state_;
    const Emission emission = state_.emission.with_noise(factor);
    smooth(problem_, tried, nullptr, &emission);
    assign(problem_, tried);
    tried.seen = emission_of(problem_, tried.paths);
    renew(problem_, tried);
    if (tried.elbo > state_.elbo) {
      state_ = std::move(tried);
      beyond_ = std::min(2 * beyond_, 16.0);
    } else {
      beyond_ = 2;
      wait_ = 4;
    }
  }

  // Merges, deletes and another order of the modes, and what is learned of the prior, q(x) fixed.
  void moves_of_modes(LapRecord& record) {
    const bool any = options_.moves.merge || options_.moves.remove || options_.moves.reorder;
    if (!any || problem_.units.empty() || state_.k < 2) return;
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
    few.after_lap = {};
    Outcome outcome = learn_memoized(modes, begin(modes, std::move(at)), few, problem_.pool);
    Progress& p = outcome.progress;
    for (const LapRecord& lap : p.trace) {
      record.merges += lap.merges;
      record.deletes += lap.deletes;
      record.merges_tried += lap.merges_tried;
      record.deletes_tried += lap.deletes_tried;
    }
    if (p.reason == "numerical") return;
    if (outcome.alloc) tried.alloc = outcome.alloc;
    tried.k = p.state.k();
    tried.r.assign(static_cast<std::size_t>(problem_.series.n * tried.k), 0.0);
    tried.globals = std::move(p.state.globals);
    tried.globals.weights = nullptr;
    assign(problem_, tried);
    renew(problem_, tried);
    if (tried.elbo >= state_.elbo) state_ = std::move(tried);
  }

  void births(LapRecord& record) {
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

  // Once births have failed: joins and deletes in which q(x) has its say, one of either a lap. After a lap
  // without any, the modes being the same, none is tried again.
  void fewer(LapRecord& record) {
    Index used = state_.k;
    if (state_.alloc->fixed_k() > 0)
      for (Index k = 0; k < state_.k; ++k) used -= state_.total.size(k) < idle_rows;
    if (used < 2 || joined_ == used) return;
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

  const LdsProblem& problem_;
  LdsState& state_;
  const LearnOptions& options_;
  const Index failures_needed_;
  Index failures_ = 0, tried_ = 0;
  Index joined_ = 0;  // modes that there were when nothing could be joined
  double beyond_ = 2;
  Index wait_ = 0;
};

}  // namespace

LdsOutcome learn_lds(const LdsProblem& problem, LdsState state, const LearnOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  LdsOutcome out{std::move(state), {}, false, "max_laps"};
  LdsState now = out.state;
  Learner learner(problem, now, options);
  double gain = 1e300;
  for (Index lap = 1; lap <= options.max_laps; ++lap) {
    LapRecord record;
    const bool was_quiet = learner.quiet();
    try {
      record = learner.lap(lap, gain);
    } catch (const Interrupted&) {
      if (!options.keep_interrupted || lap == 1) throw;
      problem.pool.go_on();
      out.reason = "interrupted";
      break;
    } catch (const std::domain_error&) {
      out.reason = "numerical";
      break;
    }
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    gain = record.elbo - out.state.elbo;
    if (!std::isfinite(record.elbo) || (lap > 1 && gain < -1e-8 * (1 + std::abs(record.elbo)))) {
      out.reason = "numerical";
      break;
    }
    out.state = now;
    out.trace.push_back(record);
    problem.pool.monitor().lap(record);
    const bool still = record.births + record.deletes + record.merges == 0;
    if (was_quiet && still && lap > 2 && gain < options.tol * static_cast<double>(problem.series.n)) {
      out.converged = true;
      out.reason = "elbo";
      break;
    }
  }
  return out;
}

LdsState one_mode(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc, LatentPaths paths) {
  const Series& s = problem.series;
  const Index k = std::max<Index>(1, alloc->fixed_k());
  Vec r(static_cast<std::size_t>(s.n * k), 0.0);
  for (Index g = 0; g < s.n_groups(); ++g)
    for (Index t = s.starts[g] + 1; t < s.starts[g + 1]; ++t) r[t * k] = 1;
  return state_of(problem, std::move(alloc), std::move(paths), std::move(r), k);
}

LdsState start_from_rows(const LdsProblem& problem, std::shared_ptr<const AllocModel> alloc,
                         const ObsModel& ar, const LatentPaths& rows, LatentPaths paths, Index k,
                         const LearnOptions& options) {
  LdsState seen = one_mode(problem, alloc, rows);
  const Dataset data = expected_rows(problem, seen);
  const MemorySource source(data, {problem.units});
  const Problem of_rows{source, ar, *alloc, problem.seed, nobody, &problem.pool};
  LearnOptions plain = options;
  plain.max_laps = std::min<Index>(options.max_laps, 50);  // a guess
  plain.keep_interrupted = false;
  plain.after_lap = {};
  k = std::max(k, alloc->fixed_k());
  State start =
      start_from_globals(of_rows, start_from_seeds(of_rows, k, true, 10, k > 1 ? 10 : 1, problem.pool));
  Outcome outcome = learn_memoized(of_rows, begin(of_rows, std::move(start)), plain, problem.pool);
  if (outcome.alloc) alloc = outcome.alloc;
  seen.alloc = alloc;
  seen.k = outcome.progress.state.k();
  seen.r.assign(static_cast<std::size_t>(problem.series.n * seen.k), 0.0);
  seen.globals = std::move(outcome.progress.state.globals);
  seen.globals.weights = alloc->visit_weights(ar, data, seen.globals.effective, &problem.pool);
  assign(problem, seen);
  return state_of(problem, std::move(alloc), std::move(paths), std::move(seen.r), seen.k);
}

}  // namespace bnpvi::dynamics
