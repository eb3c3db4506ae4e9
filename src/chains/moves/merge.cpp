// Merge of pairs of states of a hidden Markov model.
#include <algorithm>
#include <set>

#include "chains/moves/chain_search.h"
#include "chains/moves/moves.h"
#include "chains/moves/turns.h"
#include "inference/moves/neighbour_groups.h"

namespace bnpvi::chains {

namespace {

// All are guesses.
constexpr Index rounds_tried = 6;  // of local and global steps
constexpr Index partners = 3;      // of every state

class HmmMerge final : public HmmMove {
 public:
  using HmmMove::HmmMove;

  bool prepare(const State& state) override { return !candidates(state).empty(); }

  void after_lap(State& state) override {
    visit_until_converged(state);
    Index left = c_.options.max_merges;
    while (left > 0 && merge_some(state, left)) {
    }
  }

 private:
  struct Pair {
    Index a, b;  // a < b
    double score;
  };

  // Proposes the best disjoint pairs together; while that fails, the better half of them, and in the end
  // single pairs. True when a proposal was accepted.
  bool merge_some(State& state, Index& left) {
    const std::vector<Pair> ranked = rank(state, candidates(state));
    std::vector<std::vector<Pair>> tries;
    for (std::vector<Pair> together = disjoint(ranked); together.size() > 1;
         together.resize(together.size() / 2))
      tries.push_back(together);
    const Index first_single = static_cast<Index>(tries.size());
    for (const Pair& pair : ranked) tries.push_back({pair});
    const Index n = static_cast<Index>(tries.size());
    const auto is_tried = [&](Index i) {
      return i <= first_single || tries[i][0].score >= -c_.memory.merge_rise();
    };
    Turns turns(*this, n, is_tried,
                [&](HmmMerge& move, State& at, Index i) { return move.propose(at, tries[i]); });
    for (Index i = 0; i < n; ++i) {
      const Pair& pair = tries[i][0];
      if (is_tried(i)) {
        if (spent() || left-- == 0) return false;
        ++tried_;
        const double before = state.elbo;
        const bool joined = turns.take(state, i);
        if (i >= first_single) c_.memory.merge_rose(reached() - before - pair.score);
        if (joined) {
          accepted_ += static_cast<Index>(tries[i].size());
          return true;
        }
      }
      if (i >= first_single)
        c_.memory.merge_failed(pair.a, pair.b, state.total.size(pair.a), state.total.size(pair.b));
    }
    return false;
  }

  // The best pairs with a positive score that share no state.
  static std::vector<Pair> disjoint(const std::vector<Pair>& ranked) {
    std::vector<Pair> out;
    std::vector<bool> used;
    for (const Pair& pair : ranked) {
      if (pair.score <= 0) break;
      used.resize(std::max<std::size_t>(used.size(), static_cast<std::size_t>(pair.b) + 1));
      if (used[pair.a] || used[pair.b]) continue;
      used[pair.a] = used[pair.b] = true;
      out.push_back(pair);
    }
    return out;
  }

  // Pairs are merged by decreasing b, so that smaller numbers stay valid.
  bool propose(State& state, std::vector<Pair> together) {
    std::sort(together.begin(), together.end(), [](const Pair& x, const Pair& y) { return x.b > y.b; });
    Changes changes;
    std::vector<Index> gone;
    for (const Pair& pair : together) {
      changes.merge(pair.a, pair.b);
      gone.push_back(pair.b);
    }
    changes = keeping_fixed_k(alloc_, std::move(changes), static_cast<Index>(together.size()));
    return attempt(state, std::move(changes), touching(gone), rounds_tried);
  }

  // Pairs of every state with its best partners by the data term, without pairs that have failed at their
  // present sizes.
  std::vector<Pair> candidates(const State& state) const {
    const Summary& s = state.total;
    const Vec gain = evidence_of_merging(c_.problem.obs, s, c_.pool);
    std::set<std::pair<Index, Index>> chosen;
    for (Index a = 0; a < s.k; ++a)
      for (Index b : nearest(a, s.k, gain, partners)) chosen.insert(std::minmax(a, b));
    std::vector<Pair> out;
    for (const auto& [a, b] : chosen)
      if (s.size(a) > 0 && s.size(b) > 0 && may_join(state, a, b) &&
          c_.memory.merge_worth_trying(a, b, s.size(a), s.size(b)))
        out.push_back({a, b, gain[a * s.k + b]});
    return out;
  }

  // Scores pairs by the gain of joining without the entropy, a forecast, and returns them best first. Pairs
  // with a loss above what rounds have ever regained in this fit are passed over, except the best one.
  std::vector<Pair> rank(const State& state, std::vector<Pair> pairs) const {
    const double present = allocation_value(state);
    c_.pool.run(static_cast<Index>(pairs.size()), [&](Index i) {
      c_.pool.poll();
      pairs[i].score = gain_of_joining(state, pairs[i].a, pairs[i].b, pairs[i].score, present);
    });
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair& x, const Pair& y) { return x.score > y.score; });
    return pairs;
  }
};

}  // namespace

std::unique_ptr<Move> make_hmm_merge(const MoveContext& context, const HmmAlloc& alloc) {
  return std::make_unique<HmmMerge>(context, alloc);
}
}  // namespace bnpvi::chains
