#include "features/learn_features.h"

#include <algorithm>
#include <cmath>

#include "features/archived_features.h"
#include "features/check_state.h"
#include "inference/learn/check_progress.h"
#include "inference/learn/same_kernels.h"
#include "inference/moves/move.h"

namespace bnpvi::features {

namespace {

constexpr Index births_that_fail = 4;  // failures in a row before a fit may end: a guess
constexpr Index births_of_batch = 2;   // failures allowed in a visit of a batch: a guess

FeatureState stored_state(const FeatureProblem& problem, Reader& in) {
  expect_kernels(in);
  FeatureState out = read_state(in);
  require_state(problem, out);
  return out;
}

}  // namespace

FeatureFit::FeatureFit(const FeatureProblem& problem, FeatureState start, const LearnOptions& options)
    : problem_(problem), options_(options), state_(std::move(start)) {
  add_gram(problem.rows, state_.loadings);
}

FeatureFit::FeatureFit(const FeatureProblem& problem, Reader& in, const LearnOptions& options)
    : FeatureFit(problem, stored_state(problem, in), options) {
  failed_ = read_failed(in);
  several_ = in.flag();
  quiet_births_ = in.integer();
  births_tried_ = in.integer();
  require_stored(quiet_births_ >= 0 && births_tried_ >= 0, "numbers of births");
}

void FeatureFit::write(Writer& out) const {
  write_kernels(out);
  features::write(out, state_);
  features::write(out, failed_);
  out.flag(several_);
  out.integer(quiet_births_);
  out.integer(births_tried_);
}

double FeatureFit::units() const { return std::max(1.0, state_.total.scalar[n_rows]); }
double FeatureFit::slack() const { return 1e-6 * (1 + std::abs(state_.elbo)); }

bool FeatureFit::quiet() const { return quiet_births_ >= births_that_fail || !may_have_births(); }

LapRecord FeatureFit::lap(Index number) {
  LapRecord record;
  record.lap = number;
  const bool was_quiet = quiet();
  Visiting how;
  if (was_quiet) how.start = Visiting::Start::best;
  several_births(record);
  Stream stream(problem_.seed, Purpose::batch_order, static_cast<std::uint64_t>(number));
  for (Index b : shuffled(problem_.rows.n_batches(), stream)) {
    visit_batch(problem_, state_, b, how);
    renew(problem_, state_);
    births(b, record);
  }
  resum(problem_, state_);
  renew(problem_, state_);
  const MoveOptions& moves = options_.moves;
  if (moves.remove) record.deletes += delete_features(problem_, state_, record.deletes_tried);
  if (moves.merge)
    record.merges += merge_features(problem_, state_, failed_, moves.max_merges, record.merges_tried);
  Index changed = record.births + record.deletes + record.merges;
  if (moves.reorder) {
    flip_features(problem_, state_, failed_, moves.max_merges, changed == 0 && quiet());
    turn_features(problem_, state_, failed_, moves.max_merges);
    reorder_features(problem_, state_);
  }
  if (moves.remove && changed == 0 && try_delete_with_visits(problem_, state_, failed_))
    changed = ++record.deletes;
  if (changed > 0) quiet_births_ = 0;
  still_ = was_quiet && changed == 0;
  record.elbo = state_.elbo;
  record.k = state_.k();
  return record;
}

bool FeatureFit::may_have_births() const {
  const Index most = problem_.prior.most();
  return options_.moves.birth && (most == 0 || state_.k() < most) && problem_.rows.n > 1;
}

void FeatureFit::several_births(LapRecord& record) {
  if (!several_ || !may_have_births()) return;
  const Index born = try_births(problem_, state_, options_.moves.max_births, birth_stream());
  record.births_tried += std::max<Index>(1, born);
  record.births += born;
  several_ = born > 0;
  if (born > 0 && options_.moves.remove)
    record.deletes += delete_needless(problem_, state_, record.deletes_tried);
}

void FeatureFit::births(Index b, LapRecord& record) {
  Index misses = 0;
  while (may_have_births() && misses < births_of_batch && record.births_tried < options_.moves.max_births &&
         quiet_births_ < std::max(births_that_fail, problem_.rows.n_batches())) {
    ++record.births_tried;
    constexpr Direction kinds[] = {Direction::clearest, Direction::leading, Direction::skewed,
                                   Direction::row};
    if (try_birth(problem_, state_, b, kinds[quiet_births_ % 4], birth_stream())) {
      ++record.births;
      misses = quiet_births_ = 0;
      if (options_.moves.remove) record.deletes += delete_needless(problem_, state_, record.deletes_tried);
    } else {
      ++misses;
      ++quiet_births_;
    }
  }
}

Stream FeatureFit::birth_stream() {
  return Stream(problem_.seed, Purpose::residual_rows, static_cast<std::uint64_t>(births_tried_++));
}

}  // namespace bnpvi::features
