// Delete in a mixture: the rows with mass on one cluster are reassigned without it.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>

#include "inference/moves/trial.h"
#include "inference/moves/unit_edit.h"
#include "mixtures/delete_forecast.h"
#include "mixtures/mixture.h"
#include "mixtures/moves.h"
#include "mixtures/touched_rows.h"

namespace bnpvi::mixtures {

namespace {

constexpr Index max_rounds = 12;  // of local steps on these rows: a guess

// A delete is not tried if the forecast loss exceeds both 0.3 for each observation of the target and 20 in
// total. Of 135 accepted deletes (one Gaussian, starting from five clusters) 116 were forecast above −0.3
// for each observation, and without the other 19 the fit still ended with one cluster.
constexpr double allowed_loss = 0.3, allowed_loss_in_all = 20;

// Rows that are kept of a target for which there is only a forecast, and the most responsibilities kept of
// them all, 12 bytes each: guesses.
constexpr Index rows_of_forecast = Index{1} << 10, most_entries = Index{1} << 22;

// Forecasts that each of several threads makes at a time: a guess. Those after one that is accepted are made
// again, since the state is another.
constexpr Index forecasts_of_thread = 8;

class MixtureDelete final : public Move {
 public:
  MixtureDelete(const MoveContext& context, const MixtureAlloc& alloc) : c_(context), alloc_(alloc) {}

  // Chooses the smallest clusters whose deletion has not failed since they last changed.
  bool prepare(const State& state) override {
    if (state.k() < 2) return false;
    for (Index j = 0; j < state.k(); ++j)
      if (state.total.size(j) > 0 && !has_settled(state, j) && !state.total.is_last_of_class(j) &&
          c_.memory.delete_worth_trying(j, state.total.size(j)))
        targets_.push_back(j);
    std::stable_sort(targets_.begin(), targets_.end(),
                     [&](Index a, Index b) { return state.total.size(a) < state.total.size(b); });
    if (const Index most = c_.options.max_deletes + also_forecast(state);
        static_cast<Index>(targets_.size()) > most)
      targets_.resize(static_cast<std::size_t>(most));
    ids_ = c_.memory.ids(targets_);
    for (Index j : targets_) each_.push_back({j});
    touched_.resize(state.batch.size());
    changed_.assign(targets_.size(), false);
    forecasts_.resize(targets_.size());
    return !targets_.empty();
  }

  std::unique_ptr<Watch> watch(const State& state, Index) override {
    std::vector<Index> every;
    for (std::size_t i = 0; i < targets_.size(); ++i)
      every.push_back(may_propose(i) ? 1 : one_in(state, targets_[i]));
    return std::make_unique<TouchedSink>(each_, n_cells(c_.problem.obs) > 0, std::move(every));
  }

  void after_batch(Index b, Watch* watch) override { touched_[b] = static_cast<TouchedSink&>(*watch).take(); }

  void after_lap(State& state) override {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      const Index k = state.k();
      if (k < 2) return;  // among clusters that share no rows, all but one may be deleted
      if (!has_turn(state, i)) continue;
      const Index target = c_.memory.number_of(ids_[i]);
      const double gain = forecast(state, i);
      const bool hopeless = gain < -allowed_loss * state.total.size(target) - allowed_loss_in_all;
      if (hopeless) tell({"delete", {ids_[i]}, 0, NAN, false});
      if (!hopeless && !may_propose(i)) continue;
      ++tried_;
      if (hopeless || !propose(state, target, now_touched(i))) {
        c_.memory.delete_failed(target, state.total.size(target));
        continue;
      }
      ++accepted_;
      gone_.push_back(numbers_without(k, target));
      forecasts_.assign(targets_.size(), std::nullopt);
      for (std::size_t l = i + 1; l < targets_.size(); ++l)
        if (share_rows(touched_, i, l)) changed_[l] = true;
    }
  }

 private:
  // Whether target i may be deleted from this state; not if rows of it were reassigned in this lap.
  bool has_turn(const State& state, std::size_t i) const {
    return absorbed_.count(ids_[i]) == 0 && !changed_[i] &&
           !state.total.is_last_of_class(c_.memory.number_of(ids_[i]));
  }

  // The forecast for target i. On several threads those of the next targets are made at the same time.
  double forecast(const State& state, std::size_t i) {
    if (!forecasts_[i]) look_ahead(state, i);
    if (!forecasts_[i]) forecasts_[i] = forecast_at(state, i);
    c_.pool.spend(forecasts_[i]->products);
    return forecasts_[i]->gain;
  }

  void look_ahead(const State& state, std::size_t first) {
    std::vector<std::size_t> next;
    for (std::size_t i = first; i < targets_.size(); ++i)
      if (static_cast<Index>(next.size()) < forecasts_of_thread * c_.pool.n_threads() && has_turn(state, i))
        next.push_back(i);
    if (c_.pool.n_threads() == 1 || next.size() < 2) return;
    c_.pool.run(static_cast<Index>(next.size()), [&](Index at) {
      try {
        forecasts_[next[at]] = forecast_at(state, next[at]);
      } catch (const std::domain_error&) {  // thrown again in the target's turn, if it comes
      }
    });
  }

  DeletionForecast forecast_at(const State& state, std::size_t i) const {
    return forecast_deletion(c_.problem, alloc_, state, c_.memory.number_of(ids_[i]), now_touched(i),
                             c_.pool);
  }

  // Whether the rows of target i are all there, so that it may be deleted; those of later targets are a
  // sample for the forecast.
  bool may_propose(std::size_t i) const { return static_cast<Index>(i) < c_.options.max_deletes; }

  // Number of targets for which there is only a forecast in this lap, so that the hopeless ones need no lap
  // of their own. Rows with weights may be very unequal: a sample of them could miss what counts.
  Index also_forecast(const State& state) const {
    return c_.problem.source.shape().weighted ? 0 : most_entries / (rows_of_forecast * state.k());
  }

  // One in so many of the target's rows are about as many as a forecast needs.
  Index one_in(const State& state, Index target) const {
    return std::max<Index>(1, static_cast<Index>(state.total.size(target)) / rows_of_forecast);
  }

  // The rows of target i, by batch, with the present numbers of clusters. None of them was reassigned in this
  // lap, so that clusters that were deleted have no mass on them.
  std::vector<TouchedRows> now_touched(std::size_t i) const {
    std::vector<TouchedRows> out(touched_.size());
    c_.pool.run(static_cast<Index>(out.size()), [&](Index b) { out[b] = touched_[b].rows_of(i); });
    for (const std::vector<Index>& number : gone_)
      for (TouchedRows& batch : out) batch.renumber(number);
    return out;
  }

  bool propose(State& state, Index target, const std::vector<TouchedRows>& touched) {
    const Changes changes = keeping_fixed_k(alloc_, Changes().drop(target));
    Summary start = state.total;
    changes.apply(start);
    const std::uint64_t id = c_.memory.id(target);
    UnitEdit edit(c_, state, changes, parts_without(c_.problem, c_.pool, state, touched));
    edit.begin_at(alloc_.global_step(start, {}));
    const double before = state.elbo;
    const bool climbed = edit.climb(state, max_rounds);
    tell({"delete", {id}, 0, (climbed ? state.elbo : edit.proposed().elbo) - before, climbed});
    if (!climbed) return false;
    for (Index j = 0; j < state.k(); ++j)
      if (std::any_of(edit.found().begin(), edit.found().end(),
                      [j](const Summary& s) { return s.k > 0 && s.size(j) > 0; }))
        absorbed_.insert(c_.memory.id(j));
    return true;
  }

  MoveContext c_;
  const MixtureAlloc& alloc_;
  std::vector<Index> targets_;
  std::vector<Target> each_;  // each target by itself
  std::vector<std::uint64_t> ids_;
  std::set<std::uint64_t> absorbed_;    // received rows of deleted clusters, which touched_ lacks
  std::vector<RowsOfTargets> touched_;  // by batch
  std::vector<bool> changed_;           // by target: some of its rows were reassigned in this lap
  std::vector<std::optional<DeletionForecast>> forecasts_;  // by target, at the present state
  std::vector<std::vector<Index>> gone_;  // for each accepted delete, the new numbers of clusters
};

}  // namespace

std::unique_ptr<Move> make_mixture_delete(const MoveContext& context, const MixtureAlloc& alloc) {
  return std::make_unique<MixtureDelete>(context, alloc);
}

}  // namespace bnpvi::mixtures
