// Exchange of states that have places: two of them swap what they are like, the only way from one order to
// another where none can be born, joined or dropped.
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

  bool prepare(const State& state) override { return !pairs(state).empty(); }

  void after_lap(State& state) override {
    visit_until_converged(state);
    Index left = c_.options.max_merges;
    for (const auto& [a, b] : pairs(state)) {
      if (spent() || left-- == 0) return;
      ++tried_;
      if (propose(state, a, b)) {
        ++accepted_;
        return;
      }
      c_.memory.merge_failed(a, b, state.total.size(a), state.total.size(b));
    }
  }

 private:
  // Of one owner, without those that have failed at their present sizes.
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

  // Transitions are those of the prior at first: swapped with the states they could be forbidden ones.
  bool propose(State& state, Index a, Index b) {
    Summary start = state.total;
    double *one = start.edit_t(a), *other = start.edit_t(b);
    std::swap_ranges(one, one + start.shape.p, other);
    std::fill(start.pair.begin(), start.pair.end(), 0.0);
    std::fill(start.extra.begin(), start.extra.end(), 0.0);
    std::vector<Index> all(static_cast<std::size_t>(c_.problem.source.shape().n_groups));
    std::iota(all.begin(), all.end(), Index{0});
    return attempt(state, Changes(), std::move(start), all, rounds_tried);
  }
};

}  // namespace

std::unique_ptr<Move> make_hmm_exchange(const MoveContext& context, const HmmAlloc& alloc) {
  return std::make_unique<HmmExchange>(context, alloc);
}

}  // namespace bnpvi::chains
