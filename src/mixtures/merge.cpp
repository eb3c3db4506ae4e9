// Merge: the statistics of a pair are added; only the change of entropy must be collected during a lap.
#include <algorithm>
#include <cmath>

#include "inference/moves/trial.h"
#include "mixtures/mixture.h"
#include "mixtures/moves.h"
#include "mixtures/pair_entropy.h"

namespace bnpvi::mixtures {

namespace {

constexpr Index scored_at_most =
    // pairs with the best data terms, for which the other terms are computed, too: a guess
    1000;
constexpr double most_lifted = 20;  // nats by which learning the prior may raise a merge: a guess

struct Pair {
  Index a, b;    // a < b
  double score;  // gain without the loss of entropy: an upper bound of the true gain
};

class MixtureMerge final : public Move {
 public:
  MixtureMerge(const MoveContext& context, const MixtureAlloc& alloc) : c_(context), alloc_(alloc) {}

  // Pairs with a positive upper bound of the gain, best first; if learning the prior can raise the gain,
  // also pairs that are close to it.
  bool prepare(const State& state) override {
    const Summary& s = state.total;
    const Vec evidence = evidence_of_merging(c_.problem.obs, s, c_.pool);
    for (Index a = 0; a < s.k; ++a)
      for (Index b = a + 1; b < s.k; ++b)
        if (evidence[a * s.k + b] > -INFINITY && may_join(state, a, b) &&
            c_.memory.merge_worth_trying(a, b, s.size(a), s.size(b)))
          pairs_.push_back({a, b, evidence[a * s.k + b]});
    keep_best(scored_at_most);
    const Vec counts = alloc_.counts(s);
    Vec now = state.globals.u;
    const double before = allocation_value(alloc_, counts, &now),
                 least = prior_of(c_.problem.obs).has_occupied_term() ? -most_lifted : 0;
    for (Pair& pair : pairs_) {
      c_.pool.poll();
      Vec near = alloc_.joined_search(now, pair.a, pair.b);
      pair.score += allocation_value(alloc_, joined_counts(alloc_, counts, pair.a, pair.b), &near,
                                     before + least - pair.score) -
                    before;
    }
    pairs_.erase(
        std::remove_if(pairs_.begin(), pairs_.end(), [&](const Pair& pair) { return pair.score <= least; }),
        pairs_.end());
    keep_best(c_.options.max_merges);
    entropy_.resize(state.batch.size());
    return !pairs_.empty();
  }

  std::unique_ptr<Watch> watch(const State&, Index) override {
    std::vector<Target> pairs;
    for (const Pair& pair : pairs_) pairs.push_back({pair.a, pair.b});
    return std::make_unique<PairEntropy>(std::move(pairs));
  }

  void after_batch(Index b, Watch* watch) override {
    entropy_[b] = static_cast<const PairEntropy&>(*watch).total();
  }

  void after_lap(State& state) override {
    // present number of each cluster of the lap's start
    std::vector<Index> number(static_cast<std::size_t>(state.k()));
    for (Index j = 0; j < state.k(); ++j) number[j] = j;
    std::vector<bool> used(number.size(), false);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const Pair& pair = pairs_[i];
      if (used[pair.a] || used[pair.b]) continue;
      ++tried_;
      const Index a = number[pair.a], b = number[pair.b];
      Vec entropy;
      for (const Vec& batch : entropy_) entropy.push_back(batch[i]);
      const Changes changes = keeping_fixed_k(alloc_, Changes().merge(a, b));
      State proposed = with_joined(c_.problem, state, changes, entropy);
      const bool lifted = lifts(c_.problem, proposed, c_.to_beat(state), c_.pool);
      tell({"merge", {c_.memory.id(a), c_.memory.id(b)}, 0, proposed.elbo - state.elbo, lifted});
      if (!lifted) {
        c_.memory.merge_failed(a, b, state.total.size(a), state.total.size(b));
        continue;
      }
      ++accepted_;
      state = std::move(proposed);
      changes.apply(c_.memory);
      used[pair.a] = used[pair.b] = true;
      for (Index& x : number)
        if (x > b) --x;
    }
  }

 private:
  void keep_best(Index n) {
    std::stable_sort(pairs_.begin(), pairs_.end(),
                     [](const Pair& x, const Pair& y) { return x.score > y.score; });
    if (static_cast<Index>(pairs_.size()) > n) pairs_.resize(static_cast<std::size_t>(n));
  }

  MoveContext c_;
  const MixtureAlloc& alloc_;
  std::vector<Pair> pairs_;
  std::vector<Vec> entropy_;  // change of entropy by batch and pair
};

}  // namespace

std::unique_ptr<Move> make_mixture_merge(const MoveContext& context, const MixtureAlloc& alloc) {
  if (hides_scales(context.problem.obs)) return make_refitted_merge(context, alloc);
  return std::make_unique<MixtureMerge>(context, alloc);
}

}  // namespace bnpvi::mixtures
