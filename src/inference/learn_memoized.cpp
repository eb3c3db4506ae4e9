#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "foundation/random.h"
#include "inference/audit.h"
#include "inference/learn.h"
#include "inference/move.h"
#include "inference/sound_lap.h"
#include "topics/document.h"

namespace bnpvi {

void visit_batch(const Problem& problem, State& state, Index b, Visitor& visitor, Pool& pool,
                 ResponsibilitySink* sink) {
  if (!state.globals.weights) state.globals.weights = visiting_weights(problem, state.globals.effective);
  const std::shared_ptr<const Batch> batch = problem.source.open(b);
  AssignmentSink audited(state.assignments ? &*state.assignments : nullptr, *batch, sink);
  if (state.assignments) sink = &audited;
  const UnitMemory* memory = state.batch[b] ? state.batch[b]->memory.get() : nullptr;
  auto fresh = std::make_shared<Summary>(visitor.visit(
      {batch->data, batch->units, problem.obs, state.globals, state.globals.weights, pool, sink, memory}));
  fresh->log_base = state.batch[b] ? state.batch[b]->log_base : batch_log_base(problem, *batch);
  const std::shared_ptr<const Summary> old = std::exchange(state.batch[b], fresh);
  if (state.batch.size() == 1)
    resum(problem, state);
  else if (old)
    state.total.exchange(*old, *fresh, problem.pool);
  else
    state.total.add(*fresh);
}

namespace {

// One fit in progress. A lap has one kind of move, so that no cluster is ever in two; the kinds that have
// something to try take turns. The fit has converged when none has, and a lap without moves gains less than
// the tolerance.
class Memoized {
 public:
  Memoized(const Problem& problem, State state, const LearnOptions& options, Pool& pool)
      : problem_(&problem),
        options_(options),
        pool_(pool),
        memory_(state.k(), problem.alloc.cost_of_observation(problem.obs, problem.source.shape())),
        began_(std::chrono::steady_clock::now()) {
    out_.state = std::move(state);
    for (MoveKind& kind : problem.alloc.moves())
      if (asked_for(kind.turn) && (kind.keeps_k || problem.alloc.fixed_k() == 0))
        (kind.turn == MoveKind::Turn::idle ? idle_kinds_ : kinds_).push_back(std::move(kind));
  }

  Outcome run() {
    lap_ = 1;
    if (first_lap_needed()) {
      first_lap();
      ++lap_;
    } else {
      sound_.keep(out_.state);
    }
    for (; lap_ <= options_.max_laps && out_.reason.empty(); ++lap_) {
      visitor_ = problem_->alloc.visitor();
      const std::unique_ptr<Move> move = next_move();
      const double elbo = out_.state.elbo;
      const Vec sizes = out_.state.total.sizes();
      one_lap(move.get());
      if (!move && out_.reason.empty()) judge(elbo, sizes);
    }
    if (out_.reason.empty()) out_.reason = "max_laps";
    return std::move(out_);
  }

 private:
  bool asked_for(MoveKind::Turn turn) const {
    switch (turn) {
      case MoveKind::Turn::birth:
        return options_.moves.birth;
      case MoveKind::Turn::merge:
        return options_.moves.merge;
      case MoveKind::Turn::remove:
        return options_.moves.remove;
      default:
        return options_.moves.birth && options_.moves.merge;
    }
  }

  bool first_lap_needed() const {
    return std::any_of(out_.state.batch.begin(), out_.state.batch.end(), [](const auto& b) { return !b; });
  }

  // Collects the summaries of all batches at the starting globals [Hughes 2016, §3.5.4: delayed global step].
  void first_lap() {
    visitor_ = problem_->alloc.visitor();
    for (Index b = 0; b < problem_->source.n_batches(); ++b)
      visit_batch(*problem_, out_.state, b, *visitor_, pool_);
    end_lap({}, false);
  }

  std::vector<Index> batch_order() const {
    std::vector<Index> order(static_cast<std::size_t>(problem_->source.n_batches()));
    std::iota(order.begin(), order.end(), Index{0});
    Stream stream(problem_->seed, Purpose::batch_order, static_cast<std::uint64_t>(lap_));
    for (Index i = static_cast<Index>(order.size()) - 1; i > 0; --i)
      std::swap(order[i], order[stream.index(i + 1)]);
    return order;
  }

  // The next kind that has something to try, or nullptr.
  std::unique_ptr<Move> next_move() {
    for (std::size_t i = 0; i < kinds_.size(); ++i)
      if (auto move = made(kinds_[turn_++ % kinds_.size()])) return move;
    for (const MoveKind& kind : idle_kinds_)
      if (auto move = made(kind)) return move;
    return nullptr;
  }

  std::unique_ptr<Move> made(const MoveKind& kind) {
    std::unique_ptr<Move> move = kind.make({*problem_, options_.moves, memory_, *visitor_, pool_, lap_});
    return move->prepare(out_.state) ? std::move(move) : nullptr;
  }

  void one_lap(Move* move) {
    State& state = out_.state;
    for (Index b : batch_order()) {
      visit_batch(*problem_, state, b, *visitor_, pool_, move ? move->watch(state, b) : nullptr);
      renew_globals(*problem_, state);
      if (problem_->audit) evaluate(*problem_, state);
      accepted();
      if (move) move->after_batch(state, b);
      accepted();
    }
    LapRecord record;
    if (move) {
      evaluate(*problem_, state);
      move->after_lap(state);
      move->report(record);
      accepted();
    }
    const bool renewed = state.batch.size() == 1 && !move;
    end_lap(record, renewed);
  }

  void end_lap(LapRecord record, bool renewed) {
    State& state = out_.state;
    if (!renewed) {
      resum(*problem_, state);
      renew_globals(*problem_, state);
    }
    if (prior_moves())
      evaluate(*problem_, state);
    else
      evaluate_and_weigh(*problem_, state);
    if (options_.moves.reorder || !kinds_.empty()) reorder(*problem_, state, memory_, !kinds_.empty());
    settle(*problem_, state);
    accepted();
    record.lap = lap_;
    if (sound_.excludes(*problem_, state)) {
      record.elbo = state.elbo;
      return take_back(record);
    }
    if (prior_moves()) learn_prior();
    sound_.keep(state);
    record.elbo = state.elbo;
    record.k = state.k();
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    out_.trace.push_back(record);
    pool_.monitor().lap(record);
  }

  void take_back(const LapRecord& record) {
    out_.reason = "numerical";
    out_.taken_back = record;
    if (sound_.any()) out_.state = sound_.restored(*problem_, pool_);
  }

  // Weights of the prior as it was would be of no use to the next visit.
  bool prior_moves() const { return options_.learn_prior && !problem_->obs.learned_fields().empty(); }

  // The prior follows the clusters where it is to be learned; kept where the objective rises.
  void learn_prior() {
    State& state = out_.state;
    std::shared_ptr<const ObsModel> obs = problem_->obs.learned(state.total.obs.data(), state.k(), &pool_);
    if (!obs) return;
    Problem trial{problem_->source, *obs, problem_->alloc, problem_->seed, problem_->audit, problem_->pool};
    const double elbo = state.elbo;
    evaluate(trial, state);
    if (!(state.elbo > elbo)) {
      state.elbo = elbo;
      return;
    }
    state.globals.weights = nullptr;
    out_.obs = std::move(obs);
    learned_.emplace(std::move(trial));
    problem_ = &*learned_;
    accepted();
  }

  void accepted() {
    if (problem_->audit) problem_->audit->accept(out_.state);
  }

  // Converged when the lap gained less than tol an observation, or moved no count by more than tol of them.
  void judge(double elbo, const Vec& sizes) {
    const Vec now = out_.state.total.sizes();
    double n = 0, moved = now.size() == sizes.size() ? 0 : INFINITY;
    for (std::size_t j = 0; j < now.size(); ++j) {
      n += now[j];
      if (std::isfinite(moved)) moved = std::max(moved, std::abs(now[j] - sizes[j]));
    }
    const bool by_elbo = out_.state.elbo - elbo <= options_.tol * n;
    out_.converged = by_elbo || moved <= options_.tol * n;
    if (out_.converged) out_.reason = by_elbo ? "elbo" : "counts";
  }

  const Problem* problem_;
  std::optional<Problem> learned_;  // `problem_` with the prior learned so far
  const LearnOptions& options_;
  Pool& pool_;
  MoveMemory memory_;
  SoundLap sound_;
  std::chrono::steady_clock::time_point began_;
  std::vector<MoveKind> kinds_, idle_kinds_;
  std::unique_ptr<Visitor> visitor_;  // of this lap
  std::size_t turn_ = 0;
  Index lap_ = 0;
  Outcome out_;
};

}  // namespace

Outcome learn_memoized(const Problem& problem, State state, const LearnOptions& options, Pool& pool) {
  return Memoized(problem, std::move(state), options, pool).run();
}

}  // namespace bnpvi
