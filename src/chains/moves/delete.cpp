// Deletion of one state of a hidden Markov model: the sequences in which it has mass are visited again
// without it.
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
    for (Index left = c_.options.max_deletes, j; left > 0 && !spent() && (j = target(state)) >= 0; --left) {
      ++tried_;
      if (attempt(state, keeping_fixed_k(alloc_, Changes().drop(j)), touching({j}), rounds_tried))
        ++accepted_;
      else
        c_.memory.delete_failed(j, state.total.size(j));
    }
  }

 private:
  // The smallest state that has not failed since it changed, or −1.
  Index target(const State& state) const {
    Index best = -1;
    for (Index j = 0; state.k() > 1 && j < state.k(); ++j)
      if (state.total.size(j) > 0 && !has_settled(state, j) &&
          c_.memory.delete_worth_trying(j, state.total.size(j)) &&
          (best < 0 || state.total.size(j) < state.total.size(best)))
        best = j;
    return best;
  }
};

}  // namespace

std::unique_ptr<Move> make_hmm_delete(const MoveContext& context, const HmmAlloc& alloc) {
  return std::make_unique<HmmDelete>(context, alloc);
}

}  // namespace bnpvi::chains
