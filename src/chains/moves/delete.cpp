// Deletion of one state of a hidden Markov model: the sequences in which it has mass are visited again
// without it.
#include <algorithm>
#include <cmath>

#include "chains/moves/chain_search.h"
#include "chains/moves/moves.h"
#include "chains/moves/turns.h"

namespace bnpvi::chains {

namespace {

constexpr Index rounds_tried = 12;  // of local and global steps: a guess

class HmmDelete final : public HmmMove {
 public:
  using HmmMove::HmmMove;

  bool prepare(const State& state) override { return !targets(state).empty(); }

  void after_lap(State& state) override {
    visit_until_converged(state);
    Index left = c_.options.max_deletes;
    for (bool first = true; delete_one(state, left, first);) {
    }
  }

 private:
  // Proposes to delete one state after the other until a proposal is accepted. True when one was. left: how
  // many states may still be considered. first: whether none has been proposed in this lap.
  bool delete_one(State& state, Index& left, bool& first) {
    const std::vector<Index> states = targets(state);
    const Index n = static_cast<Index>(states.size());
    Vec known(states.size(), NAN);
    const auto forecast = [&](Index i) {
      if (std::isnan(known[i])) known[i] = gain_of_deleting(state, states[i]);
      return known[i];
    };
    const auto is_tried = [&](Index i) {
      return (first && i == 0) || forecast(i) >= -c_.memory.merge_rise();
    };
    Turns turns(*this, n, is_tried, [&](HmmDelete& move, State& at, Index i) {
      return move.attempt(at, keeping_fixed_k(alloc_, Changes().drop(states[i])), move.touching({states[i]}),
                          rounds_tried);
    });
    for (Index i = 0; i < n && left > 0 && !spent(); ++i, --left) {
      if (!is_tried(i)) {
        c_.memory.delete_failed(states[i], state.total.size(states[i]));
        continue;
      }
      first = false;
      ++tried_;
      const double before = state.elbo, expected = forecast(i);
      const bool gone = turns.take(state, i);
      c_.memory.merge_rose(reached() - before - expected);
      if (gone) {
        ++accepted_;
        --left;
        data_gains_.reset();
        return true;
      }
      c_.memory.delete_failed(states[i], state.total.size(states[i]));
    }
    return false;
  }

  // Forecast of the gain: all rows of j join the one state that is best for them, and no others move. States
  // with a forecast loss above what rounds have ever regained in this fit are passed over, except the first
  // of a lap.
  double gain_of_deleting(const State& state, Index j) {
    if (!data_gains_) {
      data_gains_ = evidence_of_merging(c_.problem.obs, state.total, c_.pool);
      present_ = allocation_value(state);
    }
    Vec gain(static_cast<std::size_t>(state.k()), -INFINITY);
    c_.pool.run(state.k(), [&](Index b) {
      if (const double data = (*data_gains_)[j * state.k() + b]; b != j && data > -INFINITY)
        gain[b] = gain_of_joining(state, std::min(j, b), std::max(j, b), data, present_);
    });
    double best = -INFINITY;
    for (double g : gain) best = std::max(best, g);
    return best;
  }

  // The states that have not failed since they changed, the smallest first.
  std::vector<Index> targets(const State& state) const {
    std::vector<Index> out;
    for (Index j = 0; state.k() > 1 && j < state.k(); ++j)
      if (state.total.size(j) > 0 && !has_settled(state, j) && !state.total.is_last_of_class(j) &&
          c_.memory.delete_worth_trying(j, state.total.size(j)))
        out.push_back(j);
    std::stable_sort(out.begin(), out.end(),
                     [&](Index a, Index b) { return state.total.size(a) < state.total.size(b); });
    return out;
  }

  std::optional<Vec> data_gains_;  // gains of the data term for pairs, at the present state
  double present_ = 0;             // allocation_value() of that state
};

}  // namespace

std::unique_ptr<Move> make_hmm_delete(const MoveContext& context, const HmmAlloc& alloc) {
  return std::make_unique<HmmDelete>(context, alloc);
}

}  // namespace bnpvi::chains
