// Exchange of states that are not exchangeable (transition patterns): two states swap their observation
// statistics, or those of all states are shifted cyclically, as when a cycle was entered at the wrong state.
// As no state can be born, joined or dropped, these are the only ways from one order to another.
#include <algorithm>
#include <numeric>

#include "chains/moves/chain_search.h"
#include "chains/moves/moves.h"

namespace bnpvi::chains {

namespace {

constexpr Index rounds_tried = 12;  // of local and global steps: a guess

class HmmExchange final : public HmmMove {
 public:
  using HmmMove::HmmMove;

  bool prepare(const State& state) override { return !pairs(state).empty() || shifts_worth_trying(state); }

  void after_lap(State& state) override {
    visit_until_converged(state);
    Index left = c_.options.max_merges;
    for (const auto& [a, b] : pairs(state)) {
      if (spent() || left-- == 0) return;
      Places from = in_place(state.k());
      std::swap(from[a], from[b]);
      if (propose(state, from)) return;
      c_.memory.merge_failed(a, b, state.total.size(a), state.total.size(b));
    }
    if (!shifts_worth_trying(state)) return;
    for (Index by = 1; by < state.k(); ++by) {
      if (spent()) return;
      Places from = in_place(state.k());
      std::rotate(from.begin(), from.begin() + by, from.end());
      if (propose(state, from)) return;
    }
    c_.memory.refit_tried(in_place(state.k()), state.total.sizes());
  }

 private:
  using Places = std::vector<Index>;  // state j gets the observation statistics of state [j]

  static Places in_place(Index k) {
    Places out(static_cast<std::size_t>(k));
    std::iota(out.begin(), out.end(), Index{0});
    return out;
  }

  // Pairs with the same owner, without those that have failed at their present sizes.
  std::vector<std::pair<Index, Index>> pairs(const State& state) const {
    const Summary& s = state.total;
    std::vector<std::pair<Index, Index>> out;
    for (Index a = 0; a < s.k; ++a)
      for (Index b = a + 1; b < s.k; ++b)
        if (s.size(a) + s.size(b) > 0 && s.owner_of(a) == s.owner_of(b) &&
            c_.memory.merge_worth_trying(a, b, s.size(a), s.size(b)))
          out.push_back({a, b});
    return out;
  }

  bool shifts_worth_trying(const State& state) const {
    const Summary& s = state.total;
    return s.k > 2 && s.owner.empty() && c_.memory.refit_worth_trying(in_place(s.k), s.sizes());
  }

  // Only observation statistics move between numbers; transitions stay, as moved ones could be forbidden.
  bool propose(State& state, const Places& from) {
    ++tried_;
    Summary start = state.total;
    for (Index j = 0; j < start.k; ++j) std::copy_n(state.total.t(from[j]), start.shape.p, start.edit_t(j));
    if (!attempt(state, Changes(), std::move(start), in_place(c_.problem.source.shape().n_groups),
                 rounds_tried))
      return false;
    ++accepted_;
    return true;
  }
};

}  // namespace

std::unique_ptr<Move> make_hmm_exchange(const MoveContext& context, const HmmAlloc& alloc) {
  return std::make_unique<HmmExchange>(context, alloc);
}

}  // namespace bnpvi::chains
