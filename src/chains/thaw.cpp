// Transitions that are never made get a chance: the escape of hidden Markov models with a fixed K from
// rows that cannot leave a wrong state.
#include <numeric>

#include "chains/chain_search.h"
#include "chains/moves.h"

namespace bnpvi::chains {

namespace {

constexpr Index rounds_tried = 10;  // of local and global steps: a guess

class HmmThaw final : public HmmMove {
 public:
  using HmmMove::HmmMove;

  // Once, until a size changes.
  bool prepare(const State& state) override {
    return state.k() > 1 && c_.memory.refit_worth_trying(all(state), state.total.sizes());
  }

  void after_lap(State& state) override {
    if (!visit_until_converged(state)) return;
    ++tried_;
    Summary start = state.total;
    soften(start);
    std::vector<Index> sequences(static_cast<std::size_t>(c_.problem.source.shape().n_groups));
    std::iota(sequences.begin(), sequences.end(), Index{0});
    if (attempt(state, {}, std::move(start), sequences, rounds_tried))
      ++accepted_;
    else
      c_.memory.refit_tried(all(state), state.total.sizes());
  }

 private:
  static std::vector<Index> all(const State& state) {
    std::vector<Index> out(static_cast<std::size_t>(state.k()));
    std::iota(out.begin(), out.end(), Index{0});
    return out;
  }
};

}  // namespace

std::unique_ptr<Move> make_hmm_thaw(const MoveContext& context, const HmmAlloc& alloc) {
  return std::make_unique<HmmThaw>(context, alloc);
}

}  // namespace bnpvi::chains
