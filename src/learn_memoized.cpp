#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "learn.h"
#include "move.h"
#include "random.h"

namespace bnpvi {

void visit_batch(const Problem& problem, State& state, Index b, Pool& pool, ResponsibilitySink* sink) {
  const Weights weights =
      make_weights(problem.obs, state.globals.effective.obs.data(), state.globals.effective.k);
  auto fresh = std::make_shared<Summary>(problem.alloc.local_step(
      {problem.data, problem.batches[b], problem.obs, weights, state.globals, pool, problem.width, sink}));
  if (state.batch[b]) state.total.add(*state.batch[b], -1);
  state.total.add(*fresh);
  state.batch[b] = std::move(fresh);
}

namespace {

enum class Kind { plain, birth, merge, remove };

// One fit in progress. Each lap has one kind of move, so that no cluster is ever in two; the kinds take
// turns, and the fit has converged when a whole round of them changed nothing.
class Memoized {
 public:
  Memoized(const Problem& problem, State state, const LearnOptions& options, Pool& pool)
      : problem_(problem),
        options_(options),
        pool_(pool),
        memory_(state.k()),
        began_(std::chrono::steady_clock::now()) {
    out_.state = std::move(state);
    const bool fixed = problem.alloc.fixed_k() > 0;
    if (options.moves.birth && !fixed) kinds_.push_back(Kind::birth);
    if (options.moves.merge && !fixed) kinds_.push_back(Kind::merge);
    if (options.moves.remove && !fixed) kinds_.push_back(Kind::remove);
    if (kinds_.empty()) kinds_.push_back(Kind::plain);
  }

  Outcome run() {
    for (lap_ = 1; lap_ <= options_.max_laps; ++lap_) {
      if (first_lap_needed())
        first_lap();
      else
        one_lap(kinds_[turn_]);
      if (finished()) break;
    }
    if (!out_.converged) out_.reason = "max_laps";
    return std::move(out_);
  }

 private:
  bool first_lap_needed() const {
    return std::any_of(out_.state.batch.begin(), out_.state.batch.end(), [](const auto& b) { return !b; });
  }

  // Collects the summaries of all batches at the starting globals [Hughes 2016, §3.5.4: delayed global step].
  void first_lap() {
    for (std::size_t b = 0; b < problem_.batches.size(); ++b)
      visit_batch(problem_, out_.state, static_cast<Index>(b), pool_);
    end_lap({});
  }

  std::vector<Index> batch_order() const {
    std::vector<Index> order(problem_.batches.size());
    std::iota(order.begin(), order.end(), Index{0});
    Stream stream(problem_.seed, Purpose::batch_order, static_cast<std::uint64_t>(lap_));
    for (Index i = static_cast<Index>(order.size()) - 1; i > 0; --i)
      std::swap(order[i], order[stream.index(i + 1)]);
    return order;
  }

  std::unique_ptr<Move> make_move(Kind kind) {
    const MoveContext context{problem_, options_.moves, memory_, pool_, lap_};
    if (kind == Kind::birth) return problem_.alloc.birth_move(context);
    if (kind == Kind::merge) return problem_.alloc.merge_move(context);
    if (kind == Kind::remove) return problem_.alloc.delete_move(context);
    return nullptr;
  }

  void one_lap(Kind kind) {
    State& state = out_.state;
    const std::unique_ptr<Move> move = make_move(kind);
    for (Index b : batch_order()) {
      visit_batch(problem_, state, b, pool_, move ? move->watch(state, b) : nullptr);
      refresh(problem_, state);
      if (move) move->after_batch(state, b);
    }
    if (move) move->after_lap(state);
    LapRecord record;
    if (move) {
      record.births = kind == Kind::birth ? move->accepted : 0;
      record.births_tried = kind == Kind::birth ? move->tried : 0;
      record.merges = kind == Kind::merge ? move->accepted : 0;
      record.merges_tried = kind == Kind::merge ? move->tried : 0;
      record.deletes = kind == Kind::remove ? move->accepted : 0;
      record.deletes_tried = kind == Kind::remove ? move->tried : 0;
    }
    end_lap(record);
  }

  void end_lap(LapRecord record) {
    State& state = out_.state;
    resum(state);
    refresh(problem_, state);
    const bool may_shrink = kinds_.front() != Kind::plain;
    if (options_.moves.reorder || may_shrink) reorder(problem_, state, memory_, may_shrink);
    record.lap = lap_;
    record.elbo = state.elbo;
    record.k = state.k();
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    out_.trace.push_back(record);
    pool_.monitor().lap(record);
  }

  // Converged when in as many laps as there are kinds of move none was accepted and each lap gained less
  // than tol an observation or moved no count.
  bool finished() {
    const State& state = out_.state;
    const LapRecord& last = out_.trace.back();
    const Vec sizes = state.total.sizes();
    double n = 0, moved = 0;
    for (double x : sizes) n += x;
    const bool same_k = sizes.size() == last_sizes_.size();
    if (same_k)
      for (std::size_t j = 0; j < sizes.size(); ++j) moved = std::max(moved, std::abs(sizes[j] - last_sizes_[j]));
    const bool first = out_.trace.size() < 2;
    const bool by_elbo = !first && last.elbo - last_elbo_ <= options_.tol * n;
    const bool by_counts = !first && same_k && moved <= options_.tol * n;
    const bool by_move = last.births + last.merges + last.deletes > 0;
    if (!by_move && (by_elbo || by_counts))
      ++quiet_;
    else
      quiet_ = 0;
    last_sizes_ = sizes;
    last_elbo_ = last.elbo;
    if (!first) turn_ = (turn_ + 1) % kinds_.size();
    const bool untried = last.births_tried + last.merges_tried + last.deletes_tried > 0;
    idle_ = quiet_ > 0 && !untried ? idle_ + 1 : 0;
    if (idle_ < static_cast<Index>(kinds_.size())) return false;
    out_.converged = true;
    out_.reason = by_elbo ? "elbo" : "counts";
    return true;
  }

  const Problem& problem_;
  const LearnOptions& options_;
  Pool& pool_;
  MoveMemory memory_;
  std::chrono::steady_clock::time_point began_;
  std::vector<Kind> kinds_;
  std::size_t turn_ = 0;
  Index lap_ = 0;
  Index quiet_ = 0, idle_ = 0;
  Vec last_sizes_;
  double last_elbo_ = 0;
  Outcome out_;
};

}  // namespace

Outcome learn_memoized(const Problem& problem, State state, const LearnOptions& options, Pool& pool) {
  return Memoized(problem, std::move(state), options, pool).run();
}

}  // namespace bnpvi
