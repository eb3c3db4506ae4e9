#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "foundation/random.h"
#include "inference/learn/coming_weights.h"
#include "inference/learn/learn.h"
#include "inference/learn/sound_lap.h"
#include "inference/learn/visit_batches.h"
#include "inference/moves/move.h"
#include "observations/hidden_scales.h"
#include "observations/named_clusters.h"

namespace bnpvi {

Progress begin(const Problem& problem, State state) {
  Progress out{std::move(state), cost_of_observation(problem.alloc, problem.obs, problem.source.shape())};
  out.moves.rank(out.state.globals.effective.by_size());
  return out;
}

double SharedFit::units() const {
  double n = 0;
  for (double size : p_.state.total.sizes()) n += size;
  return n;
}

namespace {

// The prior is searched every so many laps, and in each lap that may be the last: a guess.
constexpr Index laps_of_prior_search = 5;

constexpr Index most_first_visits = 20;     // of rows with scales by one cluster, in the first lap
constexpr double enough_first_gain = 1e-5;  // a smaller rise of the ELBO for each row ends them

// A fit by memoized coordinate ascent. Each lap has one kind of move, so that no cluster is in two moves at
// once; kinds that have a proposal take turns. The fit is still() when no kind has one.
class Memoized final : public SharedFit {
 public:
  Memoized(const Problem& problem, Progress from, const LearnOptions& options, Pool& pool)
      : SharedFit(std::move(from)),
        given_(problem),
        problem_(&given_),
        options_(options),
        pool_(pool),
        sound_obs_(problem.obs) {
    complete(problem, p_);
    list_moves();
  }

  LapRecord lap(Index n) override {
    lap_ = n;
    problem_->obs.forget_earlier();
    visitor_ = problem_->alloc.visitor();
    moves_ = !whole();
    if (moves_) return first_lap();
    const Chosen chosen = next_move();
    moves_ = chosen.move || chosen.waits;
    return one_lap(chosen);
  }

  bool whole() const override {
    return std::all_of(p_.state.batch.begin(), p_.state.batch.end(),
                       [](const auto& b) { return b != nullptr; });
  }
  bool still() const override { return !moves_; }
  double slack() const override { return sound_.slack(*problem_, p_.state); }
  const Problem& problem() const override { return *problem_; }

  void keep() override {
    sound_.keep(p_.state);
    sound_obs_ = problem_->obs;
    sound_alloc_ = alloc_;
  }

  void go_back() override {
    problem_->obs.go_back_to(sound_obs_);
    take_alloc(sound_alloc_);
    tell_learned();
    p_.state = sound_.restored(*problem_, pool_);
  }

 private:
  void list_moves() {
    const AllocModel& alloc = problem_->alloc;
    kinds_.clear();
    idle_kinds_.clear();
    for (MoveKind& kind : alloc.moves())
      if (asked_for(kind.turn) && (kind.keeps_k || alloc.fixed_k() == 0))
        (kind.turn >= MoveKind::Turn::idle ? idle_kinds_ : kinds_).push_back(std::move(kind));
  }

  // Rows with scales have other ones (coming_weights.h); bounds of individuals have too few digits.
  bool takes_long_steps() const {
    return !idle_kinds_.empty() && idle_kinds_[0].turn == MoveKind::Turn::settled &&
           !hidden_scales(problem_->obs) && !problem_->obs->capabilities().individuals;
  }
  double end() const { return options_.tol * units(); }

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

  // Collects the summaries of all batches at the starting globals [Hughes 2016, §3.5.4: delayed global step].
  // Rows with scales are visited again until the degrees of freedom hardly change: births judged before would
  // divide clusters with heavy tails. The more clusters, the fewer visits: many are the start of a fit that
  // joins clusters, not of one that divides them.
  LapRecord first_lap() {
    State& state = p_.state;
    const bool scales = hidden_scales(problem_->obs) != nullptr;
    if (scales) {
      Vec evidence(static_cast<std::size_t>(state.k()));
      state.globals.weights = coming_weights(*problem_, state.globals.effective, evidence.data(), true);
    }
    visit_all_batches(*problem_, state, *visitor_, pool_);
    state.earlier.clear();
    double before = -std::numeric_limits<double>::infinity();
    const Index most = scales ? most_first_visits / state.k() : 0;
    for (Index round = 0; round < most; ++round) {
      renew_globals(*problem_, state);
      evaluate_and_weigh(*problem_, state);
      if (state.elbo - before < enough_first_gain * units()) break;
      before = state.elbo;
      visit_all_batches(*problem_, state, *visitor_, pool_);
    }
    return end_lap({}, false);
  }

  std::vector<Index> batch_order() const {
    Stream stream(problem_->seed, Purpose::batch_order, static_cast<std::uint64_t>(lap_));
    return shuffled(problem_->source.n_batches(), stream);
  }

  // The moves of a lap (nullptr: none) and their kind of turn. waits: there are moves, but for later laps.
  struct Chosen {
    std::unique_ptr<Move> move;
    MoveKind::Turn turn = MoveKind::Turn::idle;
    bool waits = false;
  };

  // The moves of the next kind that has a proposal.
  Chosen next_move() {
    for (std::size_t i = 0; i < kinds_.size(); ++i)
      if (Chosen c = made(kinds_[static_cast<std::size_t>(p_.turn++) % kinds_.size()]); c.move) return c;
    for (const MoveKind& kind : idle_kinds_)
      if (Chosen c = made(kind); c.move) {
        if (!takes_long_steps() || !p_.long_steps.waits(end())) return c;
        return {nullptr, kind.turn, true};
      }
    return {};
  }

  Chosen made(const MoveKind& kind) {
    Chosen c{kind.make({*problem_, options_.moves, p_.moves, *visitor_, pool_, lap_}), kind.turn, false};
    if (!c.move->prepare(p_.state)) c.move.reset();
    return c;
  }

  static void record_moves(const Chosen& chosen, LapRecord& record) {
    const Index tried = chosen.move->tried(), accepted = chosen.move->accepted();
    switch (chosen.turn) {
      case MoveKind::Turn::birth:
      case MoveKind::Turn::idle:
      case MoveKind::Turn::settled:
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

  // How many batches are visited under the same globals. Rows with scales are all visited at once, since
  // steps of the degrees of freedom can then be lengthened (coming_weights.h).
  Index batches_at_once() const {
    return hidden_scales(problem_->obs) ? problem_->source.n_batches() : problem_->wave;
  }

  LapRecord one_lap(const Chosen& chosen) {
    State& state = p_.state;
    Move* move = chosen.move.get();
    const std::optional<Summary> before = takes_long_steps() ? std::optional(state.total) : std::nullopt;
    const double elbo = state.elbo;
    for (const std::vector<Index>& wave : in_waves(batch_order(), batches_at_once())) {
      std::vector<std::unique_ptr<Watch>> watches;
      for (Index b : wave) watches.push_back(move ? move->watch(state, b) : nullptr);
      visit_batches(*problem_, state, wave, *visitor_, pool_, &watches);
      renew_globals(*problem_, state);
      if (problem_->observer.wants_spared_work()) evaluate(*problem_, state);
      accepted();
      for (std::size_t i = 0; move && i < wave.size(); ++i)
        move->after_batch(wave[i], std::exchange(watches[i], nullptr).get());
    }
    if (move || before || hidden_scales(problem_->obs)) evaluate(*problem_, state);
    const double gain = state.elbo - elbo;
    if (hidden_scales(problem_->obs) && sound_.is_above(*problem_, state)) {
      visit_with_plain_steps();
      return end_lap({}, false);
    }
    LapRecord record;
    if (move) {
      move->after_lap(state);
      record_moves(chosen, record);
      accepted();
    }
    if (before && (!move || move->accepted() == 0)) {
      p_.long_steps.take(*problem_, state, *before, gain, end(), *visitor_, pool_);
      accepted();
    }
    const bool renewed = state.batch.size() == 1 && !move;
    record = end_lap(record, renewed);
    p_.long_steps.gained(state.elbo - elbo);
    return record;
  }

  // Visits all rows again from the end of the last lap, after a visit in which lengthened steps of the
  // degrees of freedom lowered the ELBO (by .01 nats with 40 rows). Without them it cannot fall. The lap's
  // move saw the visit that is given up, and is left out.
  void visit_with_plain_steps() {
    State& state = p_.state;
    state.globals = sound_.globals();
    state.globals.weights = visiting_weights(*problem_, state.globals.effective);
    visit_all_batches(*problem_, state, *visitor_, pool_);
    renew_globals(*problem_, state);
  }

  LapRecord end_lap(LapRecord record, bool renewed) {
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
    if (prior_moves() && !waits_for_births() && std::isfinite(state.elbo)) learn_prior();
    tell_learned();
    record.lap = lap_;
    record.elbo = state.elbo;
    record.k = state.k();
    return record;
  }

  // Makes this the allocation model of the problem; null: the given one.
  void take_alloc(std::shared_ptr<const AllocModel> alloc) {
    alloc_ = std::move(alloc);
    learned_.emplace(Problem{given_.source, problem_->obs, alloc_ ? *alloc_ : given_.alloc, given_.seed,
                             given_.observer, given_.pool, given_.wave, given_.workers});
    problem_ = &*learned_;
    list_moves();
  }

  void tell_learned() {
    p_.learned = prior_of(problem_->obs).learned_fields();
    for (NamedArray& field : concentrations_of(problem_->alloc).learned_fields())
      p_.learned.push_back(std::move(field));
  }

  // Learns the concentrations, if that is wanted and raises the objective. The summaries of the batches are
  // renewed by settle(), which must follow.
  void learn_concentrations() {
    State& state = p_.state;
    std::shared_ptr<const AllocModel> alloc = concentrations_of(problem_->alloc).learned(state, &pool_);
    if (!alloc) return;
    const auto value = [&](const AllocModel& model) {
      return sum_terms(model.elbo_terms(state.total, state.globals)) +
             concentrations_of(model).log_hyperprior();
    };
    state.elbo += value(*alloc) - value(problem_->alloc);
    take_alloc(std::move(alloc));
  }

  // True when the prior is learned: weights for the next visit are then not computed in advance, as they
  // would be wrong for the new prior.
  bool prior_moves() const { return options_.learn_prior && problem_->obs->capabilities().prior; }

  // True in the first lap of a fit that has a single cluster: a prior learned from it would expect all
  // clusters to be like the whole data, and few births would survive. The first births are therefore judged
  // under the initial prior.
  bool waits_for_births() const { return lap_ == 1 && p_.state.k() == 1 && !kinds_.empty() && !still(); }

  PriorSteps steps_of_prior() const {
    return still() || lap_ % laps_of_prior_search == 0 ? PriorSteps::search : PriorSteps::ascent;
  }

  // Learns the prior of the observation model; the new prior is kept if it raises the objective.
  void learn_prior() {
    State& state = p_.state;
    std::shared_ptr<const ObsModel> obs = learned_prior(problem_->obs, state.total.obs.data(), state.k(),
                                                        state.total.names.of, steps_of_prior(), &pool_);
    if (!obs) return;
    Problem trial = *problem_;
    trial.obs = *obs;
    const double elbo = state.elbo;
    evaluate(trial, state);
    if (!(state.elbo > elbo)) {
      state.elbo = elbo;
      return;
    }
    state.globals.weights = nullptr;
    problem_->obs.replace(std::move(obs));
    accepted();
  }

  void accepted() { problem_->observer.accepted(p_.state); }

  const Problem given_;
  const Problem* problem_;
  std::optional<Problem> learned_;  // `given_` with the priors learned so far
  const LearnOptions options_;
  Pool& pool_;
  SoundLap sound_;
  ObsInUse sound_obs_;
  std::shared_ptr<const AllocModel> sound_alloc_;
  std::vector<MoveKind> kinds_, idle_kinds_;
  std::unique_ptr<Visitor> visitor_;  // of this lap, as lap_ and moves_
  Index lap_ = 0;
  bool moves_ = true;  // true: the lap does anything besides visits
};

}  // namespace

std::unique_ptr<SharedFit> memoized_fit(const Problem& problem, Progress from, const LearnOptions& options,
                                        Pool& pool) {
  return std::make_unique<Memoized>(problem, std::move(from), options, pool);
}

}  // namespace bnpvi
