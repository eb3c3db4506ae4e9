#include "features/learn_features.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "inference/move.h"

namespace bnpvi::features {

namespace {

constexpr Index births_that_fail = 4;  // on end, before a fit may end: a guess
constexpr Index births_of_batch = 2;   // failures a visit: a guess

class Learner {
 public:
  Learner(const FeatureProblem& problem, FeatureProgress& progress, const LearnOptions& options)
      : problem_(problem), progress_(progress), state_(progress.state), options_(options) {}

  // True when nothing is left to try; then rows look for other optima of their own, too.
  bool quiet() const { return progress_.quiet_births >= births_that_fail || !may_have_births(); }

  LapRecord lap(Index number) {
    LapRecord record;
    record.lap = number;
    const Index n = problem_.rows.n_batches();
    Visiting how;
    if (quiet()) how.start = Visiting::Start::best;
    several_births(record);
    Stream stream(problem_.seed, Purpose::batch_order, static_cast<std::uint64_t>(number));
    for (Index b : shuffled(n, stream)) {
      visit_batch(problem_, state_, b, how);
      renew(problem_, state_);
      births(b, record);
    }
    resum(problem_, state_);
    renew(problem_, state_);
    if (options_.moves.remove) record.deletes += delete_features(problem_, state_, record.deletes_tried);
    if (options_.moves.merge)
      record.merges +=
          merge_features(problem_, state_, progress_.failed, options_.moves.max_merges, record.merges_tried);
    Index changed = record.births + record.deletes + record.merges;
    if (options_.moves.reorder) {
      flip_features(problem_, state_, progress_.failed, options_.moves.max_merges, changed == 0 && quiet());
      turn_features(problem_, state_, progress_.failed, options_.moves.max_merges);
      reorder_features(problem_, state_);
    }
    if (options_.moves.remove && changed == 0 && try_delete_with_visits(problem_, state_, progress_.failed))
      changed = ++record.deletes;
    if (changed > 0) progress_.quiet_births = 0;
    record.elbo = state_.elbo;
    record.k = state_.k();
    return record;
  }

 private:
  bool may_have_births() const {
    const Index most = problem_.prior.most();
    return options_.moves.birth && (most == 0 || state_.k() < most) && problem_.rows.n > 1;
  }

  void several_births(LapRecord& record) {
    if (!progress_.several || !may_have_births()) return;
    const Index born = try_births(problem_, state_, options_.moves.max_births, birth_stream());
    record.births_tried += std::max<Index>(1, born);
    record.births += born;
    progress_.several = born > 0;
    if (born > 0 && options_.moves.remove)
      record.deletes += delete_needless(problem_, state_, record.deletes_tried);
  }

  void births(Index b, LapRecord& record) {
    Index misses = 0;
    while (may_have_births() && misses < births_of_batch && record.births_tried < options_.moves.max_births &&
           progress_.quiet_births < std::max(births_that_fail, problem_.rows.n_batches())) {
      ++record.births_tried;
      constexpr Direction kinds[] = {Direction::clearest, Direction::leading, Direction::skewed,
                                     Direction::row};
      if (try_birth(problem_, state_, b, kinds[progress_.quiet_births % 4], birth_stream())) {
        ++record.births;
        misses = progress_.quiet_births = 0;
        if (options_.moves.remove) record.deletes += delete_needless(problem_, state_, record.deletes_tried);
      } else {
        ++misses;
        ++progress_.quiet_births;
      }
    }
  }

  Stream birth_stream() {
    return Stream(problem_.seed, Purpose::residual_rows,
                  static_cast<std::uint64_t>(progress_.births_tried++));
  }

  const FeatureProblem& problem_;
  FeatureProgress& progress_;
  FeatureState& state_;
  const LearnOptions& options_;
};

}  // namespace

FeatureProgress learn_features(const FeatureProblem& problem, FeatureProgress from,
                               const LearnOptions& options,
                               const std::function<void(const FeatureProgress&)>& after_lap) {
  const auto began = std::chrono::steady_clock::now();
  if (!from.reason.empty()) return from;
  add_gram(problem.rows, from.state.loadings);
  const double earlier = from.trace.empty() ? 0 : from.trace.back().seconds;
  FeatureProgress now = from;
  Learner learner(problem, now, options);
  while (static_cast<Index>(from.trace.size()) < options.max_laps) {
    const Index lap = static_cast<Index>(from.trace.size()) + 1;
    LapRecord record;
    const bool was_quiet = learner.quiet();
    try {
      record = learner.lap(lap);
    } catch (const Interrupted&) {
      if (!options.keep_interrupted || lap == 1) throw;
      problem.pool.go_on();
      from.reason = "interrupted";
      return from;
    } catch (const std::domain_error&) {
      from.reason = "numerical";
      return from;
    }
    record.seconds =
        earlier + std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const double gain = record.elbo - from.state.elbo;
    if (!std::isfinite(record.elbo) || gain < -1e-6 * (1 + std::abs(record.elbo))) {
      from.reason = "numerical";
      return from;
    }
    now.trace.push_back(record);
    if (was_quiet && record.births + record.deletes + record.merges == 0 &&
        gain < options.tol * std::max(1.0, now.state.total.scalar[n_rows])) {
      now.converged = true;
      now.reason = "elbo";
    }
    from = now;
    problem.pool.monitor().lap(record);
    if (after_lap) after_lap(from);
    if (!from.reason.empty()) return from;
  }
  from.reason = "max_laps";
  return from;
}

}  // namespace bnpvi::features
