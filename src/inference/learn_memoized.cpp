#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "foundation/random.h"
#include "inference/learn.h"
#include "inference/move.h"
#include "inference/sound_lap.h"
#include "inference/visit_batches.h"

namespace bnpvi {

Progress begin(const Problem& problem, State state) {
  Progress out{std::move(state), problem.alloc.cost_of_observation(problem.obs, problem.source.shape())};
  out.moves.rank(out.state.globals.effective.by_size());
  return out;
}

namespace {

// One fit in progress. A lap has one kind of move, so that no cluster is in two moves at once; the kinds that
// have something to try take turns. The fit has converged when no kind has, and a lap without moves gains
// less than the tolerance.
class Memoized {
 public:
  Memoized(const Problem& problem, Progress from, const LearnOptions& options, Pool& pool)
      : given_(problem), problem_(&problem), options_(options), pool_(pool), p_(std::move(from)) {
    list_moves();
    if (!p_.trace.empty()) before_ = p_.trace.back().seconds;
  }

  Outcome run() {
    try {
      laps();
    } catch (const Interrupted&) {
      if (!options_.keep_interrupted || !sound_.any()) throw;
      pool_.go_on();
      p_.reason = "interrupted";
      restore();
    }
    if (p_.reason.empty()) p_.reason = "max_laps";
    return {std::move(p_), std::move(obs_), std::move(alloc_)};
  }

 private:
  void list_moves() {
    const AllocModel& alloc = problem_->alloc;
    kinds_.clear();
    idle_kinds_.clear();
    for (MoveKind& kind : alloc.moves())
      if (asked_for(kind.turn) && (kind.keeps_k || alloc.fixed_k() == 0))
        (kind.turn == MoveKind::Turn::idle ? idle_kinds_ : kinds_).push_back(std::move(kind));
  }

  void laps() {
    if (first_lap_needed())
      first_lap();
    else
      keep();
    while (p_.lap < options_.max_laps && p_.reason.empty()) {
      ++p_.lap;
      visitor_ = problem_->alloc.visitor();
      const Chosen chosen = next_move();
      const double elbo = p_.state.elbo;
      const Vec sizes = p_.state.total.sizes();
      one_lap(chosen);
      if (!chosen.move && p_.reason.empty()) judge(elbo, sizes);
      if (options_.after_lap) options_.after_lap(p_);
    }
  }

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
    return std::any_of(p_.state.batch.begin(), p_.state.batch.end(), [](const auto& b) { return !b; });
  }

  // Collects the summaries of all batches at the starting globals [Hughes 2016, §3.5.4: delayed global step].
  void first_lap() {
    ++p_.lap;
    visitor_ = problem_->alloc.visitor();
    visit_all_batches(*problem_, p_.state, *visitor_, pool_);
    p_.state.earlier.clear();
    end_lap({}, false);
    if (options_.after_lap) options_.after_lap(p_);
  }

  std::vector<Index> batch_order() const {
    Stream stream(problem_->seed, Purpose::batch_order, static_cast<std::uint64_t>(p_.lap));
    return shuffled(problem_->source.n_batches(), stream);
  }

  // The moves of a lap, or nullptr, and their turn.
  struct Chosen {
    std::unique_ptr<Move> move;
    MoveKind::Turn turn = MoveKind::Turn::idle;
  };

  // Of the next kind that has something to try.
  Chosen next_move() {
    for (std::size_t i = 0; i < kinds_.size(); ++i)
      if (Chosen c = made(kinds_[static_cast<std::size_t>(p_.turn++) % kinds_.size()]); c.move) return c;
    for (const MoveKind& kind : idle_kinds_)
      if (Chosen c = made(kind); c.move) return c;
    return {};
  }

  Chosen made(const MoveKind& kind) {
    Chosen c{kind.make({*problem_, options_.moves, p_.moves, *visitor_, pool_, p_.lap}), kind.turn};
    if (!c.move->prepare(p_.state)) c.move.reset();
    return c;
  }

  static void record_moves(const Chosen& chosen, LapRecord& record) {
    const Index tried = chosen.move->tried(), accepted = chosen.move->accepted();
    switch (chosen.turn) {
      case MoveKind::Turn::birth:
      case MoveKind::Turn::idle:
        record.births_tried = tried;
        record.births = accepted;
        break;
      case MoveKind::Turn::merge:
        record.merges_tried = tried;
        record.merges = accepted;
        break;
      case MoveKind::Turn::remove:
        record.deletes_tried = tried;
        record.deletes = accepted;
    }
  }

  void one_lap(const Chosen& chosen) {
    State& state = p_.state;
    Move* move = chosen.move.get();
    for (const std::vector<Index>& wave : in_waves(batch_order(), problem_->wave)) {
      std::vector<std::unique_ptr<Watch>> watches;
      for (Index b : wave) watches.push_back(move ? move->watch(state, b) : nullptr);
      visit_batches(*problem_, state, wave, *visitor_, pool_, &watches);
      renew_globals(*problem_, state);
      if (problem_->observer.wants_spared_work()) evaluate(*problem_, state);
      accepted();
      for (std::size_t i = 0; move && i < wave.size(); ++i) move->after_batch(wave[i], watches[i].get());
    }
    LapRecord record;
    if (move) {
      evaluate(*problem_, state);
      move->after_lap(state);
      record_moves(chosen, record);
      accepted();
    }
    const bool renewed = state.batch.size() == 1 && !move;
    end_lap(record, renewed);
  }

  void end_lap(LapRecord record, bool renewed) {
    State& state = p_.state;
    if (!renewed) {
      resum(*problem_, state);
      renew_globals(*problem_, state);
    }
    if (prior_moves())
      evaluate(*problem_, state);
    else
      evaluate_and_weigh(*problem_, state);
    if (options_.moves.reorder || !kinds_.empty()) reorder(*problem_, state, p_.moves, !kinds_.empty());
    if (options_.learn_prior) learn_concentrations();
    settle(*problem_, state);
    accepted();
    record.lap = p_.lap;
    if (sound_.excludes(*problem_, state)) {
      record.elbo = state.elbo;
      return take_back(record);
    }
    if (prior_moves()) learn_prior();
    keep();
    record.elbo = state.elbo;
    record.k = state.k();
    record.seconds =
        before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    p_.trace.push_back(record);
    pool_.monitor().lap(record);
  }

  void take_back(const LapRecord& record) {
    p_.reason = "numerical";
    p_.taken_back = record;
    if (sound_.any()) restore();
  }

  // The state of the last sound lap, and the concentrations that it had.
  void keep() {
    sound_.keep(p_.state);
    sound_alloc_ = alloc_;
  }

  void restore() {
    take_models(obs_, sound_alloc_);
    p_.state = sound_.restored(*problem_, pool_);
  }

  // From now on the problem has these models; null: those that were given.
  void take_models(std::shared_ptr<const ObsModel> obs, std::shared_ptr<const AllocModel> alloc) {
    obs_ = std::move(obs);
    alloc_ = std::move(alloc);
    learned_.emplace(Problem{given_.source, obs_ ? *obs_ : given_.obs, alloc_ ? *alloc_ : given_.alloc,
                             given_.seed, given_.observer, given_.pool, given_.wave, given_.workers});
    problem_ = &*learned_;
    p_.learned = problem_->obs.learned_fields();
    for (NamedArray& field : problem_->alloc.learned_fields()) p_.learned.push_back(std::move(field));
    list_moves();
  }

  // The concentrations follow the groups where they are to be learned. Batches are told by settle(), which is
  // next.
  void learn_concentrations() {
    State& state = p_.state;
    std::shared_ptr<const AllocModel> alloc = problem_->alloc.learned(state, &pool_);
    if (!alloc) return;
    const auto value = [&](const AllocModel& model) {
      return sum_terms(model.elbo_terms(state.total, state.globals)) + model.log_hyperprior();
    };
    state.elbo += value(*alloc) - value(problem_->alloc);
    take_models(obs_, std::move(alloc));
  }

  // No weights for the next visit when the prior is about to change, for which they would be wrong.
  bool prior_moves() const { return options_.learn_prior && !problem_->obs.learned_fields().empty(); }

  // The prior follows the clusters where it is to be learned; kept where the objective rises.
  void learn_prior() {
    State& state = p_.state;
    std::shared_ptr<const ObsModel> obs = problem_->obs.learned(state.total.obs.data(), state.k(), &pool_);
    if (!obs) return;
    const Problem trial{given_.source,   *obs,        problem_->alloc, given_.seed,
                        given_.observer, given_.pool, given_.wave,     given_.workers};
    const double elbo = state.elbo;
    evaluate(trial, state);
    if (!(state.elbo > elbo)) {
      state.elbo = elbo;
      return;
    }
    state.globals.weights = nullptr;
    take_models(std::move(obs), alloc_);
    accepted();
  }

  void accepted() { problem_->observer.accepted(p_.state); }

  // Converged when the lap gained less than tol an observation, or moved no count by more than tol of them;
  // concentrations may still move where counts do not.
  void judge(double elbo, const Vec& sizes) {
    const Vec now = p_.state.total.sizes();
    const bool by_counts = now.size() == sizes.size() && problem_->alloc.learned_fields().empty();
    double n = 0, moved = by_counts ? 0 : INFINITY;
    for (std::size_t j = 0; j < now.size(); ++j) {
      n += now[j];
      if (std::isfinite(moved)) moved = std::max(moved, std::abs(now[j] - sizes[j]));
    }
    const bool by_elbo = p_.state.elbo - elbo <= options_.tol * n;
    p_.converged = by_elbo || moved <= options_.tol * n;
    if (p_.converged) p_.reason = by_elbo ? "elbo" : "counts";
  }

  const Problem& given_;
  const Problem* problem_;
  std::optional<Problem> learned_;  // `given_` with the priors learned so far
  const LearnOptions& options_;
  Pool& pool_;
  Progress p_;
  std::shared_ptr<const ObsModel> obs_;  // with the prior learned; null: the problem's own, as below
  std::shared_ptr<const AllocModel> alloc_;
  SoundLap sound_;
  std::shared_ptr<const AllocModel> sound_alloc_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double before_ = 0;  // seconds of laps done earlier
  std::vector<MoveKind> kinds_, idle_kinds_;
  std::unique_ptr<Visitor> visitor_;  // of this lap
};

}  // namespace

Outcome learn_memoized(const Problem& problem, Progress from, const LearnOptions& options, Pool& pool) {
  return Memoized(problem, std::move(from), options, pool).run();
}

}  // namespace bnpvi
