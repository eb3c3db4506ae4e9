#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "audit.h"
#include "document.h"
#include "learn.h"
#include "move.h"
#include "random.h"

namespace bnpvi {

void visit_batch(const Problem& problem, State& state, Index b, Pool& pool, ResponsibilitySink* sink) {
  if (!state.globals.weights) state.globals.weights = visiting_weights(problem, state.globals.effective);
  const Weights& weights = *state.globals.weights;
  AssignmentSink audited(state.assignments ? &*state.assignments : nullptr, sink);
  if (state.assignments) sink = &audited;
  const UnitMemory* memory = state.batch[b]          ? state.batch[b]->memory.get()
                             : state.earlier.empty() ? nullptr
                                                     : state.earlier[b].get();
  LocalInput in{problem.data, problem.batches[b], problem.obs, weights, state.globals,
                pool,         problem.width,      sink,        memory,  problem.candidates};
  if (memory && (!state.neighbours || state.neighbours->k != weights.k))
    state.neighbours = problem.alloc.neighbours(in);
  in.neighbours = state.neighbours.get();
  in.shared_weights = state.globals.weights;
  auto fresh = std::make_shared<Summary>(problem.alloc.local_step(in));
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
        memory_(state.k(), rows_are_documents(problem.obs, problem.data) ? 1 : problem.obs.n_features()),
        began_(std::chrono::steady_clock::now()) {
    out_.state = std::move(state);
    if (problem.alloc.fixed_k() > 0) return;
    if (options.moves.birth) kinds_.push_back(&AllocModel::birth_move);
    if (options.moves.merge) kinds_.push_back(&AllocModel::merge_move);
    if (options.moves.remove) kinds_.push_back(&AllocModel::delete_move);
  }

  Outcome run() {
    lap_ = 1;
    if (first_lap_needed()) {
      first_lap();
      ++lap_;
    }
    for (; lap_ <= options_.max_laps && !out_.converged; ++lap_) {
      const std::unique_ptr<Move> move = next_move();
      const double elbo = out_.state.elbo;
      const Vec sizes = out_.state.total.sizes();
      one_lap(move.get());
      if (!move) judge(elbo, sizes);
    }
    if (!out_.converged) out_.reason = "max_laps";
    return std::move(out_);
  }

 private:
  using MoveMaker = std::unique_ptr<Move> (AllocModel::*)(const MoveContext&) const;

  bool first_lap_needed() const {
    return std::any_of(out_.state.batch.begin(), out_.state.batch.end(), [](const auto& b) { return !b; });
  }

  // Collects the summaries of all batches at the starting globals [Hughes 2016, §3.5.4: delayed global step].
  void first_lap() {
    for (std::size_t b = 0; b < problem_->batches.size(); ++b)
      visit_batch(*problem_, out_.state, static_cast<Index>(b), pool_);
    out_.state.earlier.clear();
    end_lap({}, false);
  }

  std::vector<Index> batch_order() const {
    std::vector<Index> order(problem_->batches.size());
    std::iota(order.begin(), order.end(), Index{0});
    Stream stream(problem_->seed, Purpose::batch_order, static_cast<std::uint64_t>(lap_));
    for (Index i = static_cast<Index>(order.size()) - 1; i > 0; --i)
      std::swap(order[i], order[stream.index(i + 1)]);
    return order;
  }

  // The next kind that has something to try, or nullptr. Pairs are split anew when nothing else is left.
  std::unique_ptr<Move> next_move() {
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      const MoveMaker make = kinds_[turn_++ % kinds_.size()];
      std::unique_ptr<Move> move = (problem_->alloc.*make)({*problem_, options_.moves, memory_, pool_, lap_});
      if (move && move->prepare(out_.state)) return move;
    }
    if (!(options_.moves.birth && options_.moves.merge) || kinds_.empty()) return nullptr;
    std::unique_ptr<Move> move =
        problem_->alloc.resplit_move({*problem_, options_.moves, memory_, pool_, lap_});
    if (move && move->prepare(out_.state)) return move;
    return nullptr;
  }

  void one_lap(Move* move) {
    State& state = out_.state;
    state.neighbours = nullptr;
    for (Index b : batch_order()) {
      visit_batch(*problem_, state, b, pool_, move ? move->watch(state, b) : nullptr);
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
    if (prior_moves()) learn_prior();
    record.lap = lap_;
    record.elbo = state.elbo;
    record.k = state.k();
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    out_.trace.push_back(record);
    pool_.monitor().lap(record);
  }

  // Weights of the prior as it was would be of no use to the next visit.
  bool prior_moves() const { return options_.learn_prior && !problem_->obs.learned_fields().empty(); }

  // The prior follows the clusters where it is to be learned; kept where the objective rises.
  void learn_prior() {
    State& state = out_.state;
    std::shared_ptr<const ObsModel> obs = problem_->obs.learned(state.total.obs.data(), state.k(), &pool_);
    if (!obs) return;
    Problem trial{problem_->data,  *obs,           problem_->alloc, problem_->batches,
                  problem_->width, problem_->seed, problem_->audit, problem_->candidates,
                  problem_->pool};
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
  std::chrono::steady_clock::time_point began_;
  std::vector<MoveMaker> kinds_;
  std::size_t turn_ = 0;
  Index lap_ = 0;
  Outcome out_;
};

}  // namespace

Outcome learn_memoized(const Problem& problem, State state, const LearnOptions& options, Pool& pool) {
  return Memoized(problem, std::move(state), options, pool).run();
}

}  // namespace bnpvi
