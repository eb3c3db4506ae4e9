// Deletion of one state of a hidden Markov model: the sequences in which it has mass are visited again
// without it.
#include <algorithm>
#include <cmath>

#include "chains/moves/chain_search.h"
#include "chains/moves/moves.h"

namespace bnpvi::chains {

namespace {

constexpr Index rounds_tried = 12;  // of local and global steps: a guess

class HmmDelete final : public HmmMove {
 public:
  using HmmMove::HmmMove;

  bool prepare(const State& state) override { return target(state) >= 0; }

  void after_lap(State& state) override {
    visit_until_converged(state);
    Index n = 0;
    for (Index left = c_.options.max_deletes, j; left > 0 && !spent() && (j = target(state)) >= 0; --left) {
      const double before = state.elbo, forecast = gain_of_deleting(state, j);
      if (n++ > 0 && forecast < -c_.memory.merge_rise()) {
        c_.memory.delete_failed(j, state.total.size(j));
        continue;
      }
      ++tried_;
      const bool gone =
          attempt(state, keeping_fixed_k(alloc_, Changes().drop(j)), touching({j}), rounds_tried);
      c_.memory.merge_rose(reached() - before - forecast);
      if (gone) {
        ++accepted_;
        data_gains_.reset();
      } else {
        c_.memory.delete_failed(j, state.total.size(j));
      }
    }
  }

 private:
  // Forecast of the gain: all rows of j join the one state that is best for them, and no others move. States
  // with a forecast loss above what rounds have ever regained in this fit are passed over, except the first
  // of a lap.
  double gain_of_deleting(const State& state, Index j) {
    if (!data_gains_) data_gains_ = evidence_of_merging(c_.problem.obs, state.total, c_.pool);
    double best = -INFINITY;
    for (Index b = 0; b < state.k(); ++b)
      if (const double data = (*data_gains_)[j * state.k() + b]; b != j && data > -INFINITY)
        best = std::max(best, gain_of_joining(state, std::min(j, b), std::max(j, b), data));
    return best;
  }

  // The smallest state that has not failed since it changed, or −1.
  Index target(const State& state) const {
    Index best = -1;
    for (Index j = 0; state.k() > 1 && j < state.k(); ++j)
      if (state.total.size(j) > 0 && !has_settled(state, j) && !state.total.is_last_of_class(j) &&
          c_.memory.delete_worth_trying(j, state.total.size(j)) &&
          (best < 0 || state.total.size(j) < state.total.size(best)))
        best = j;
    return best;
  }

  std::optional<Vec> data_gains_;  // gains of the data term for pairs, at the present state
};

}  // namespace

std::unique_ptr<Move> make_hmm_delete(const MoveContext& context, const HmmAlloc& alloc) {
  return std::make_unique<HmmDelete>(context, alloc);
}

}  // namespace bnpvi::chains
