// Merge: all statistics of a pair add; only its entropy must be tracked.
#include <algorithm>
#include <cmath>

#include "mixtures/mixture.h"
#include "mixtures/moves.h"
#include "mixtures/target_rows.h"

namespace bnpvi::mixtures {

namespace {

constexpr Index scored_at_most =
    1000;  // pairs with the best data terms, whose other terms are computed too: a guess

struct Pair {
  Index a, b;    // a < b
  double score;  // gain without the loss of entropy: an upper bound of the true gain
};

// Σ w [−(r_a + r_b) log(r_a + r_b) + r_a log r_a + r_b log r_b] ≤ 0 for tracked pairs, by chunk.
class PairEntropy final : public ResponsibilitySink {
 public:
  explicit PairEntropy(const std::vector<Pair>& pairs) : pairs_(pairs) {}

  void begin(Index n_chunks) override {
    change_.assign(static_cast<std::size_t>(n_chunks), Vec(pairs_.size(), 0.0));
  }

  void visit(Index chunk, const Index*, const Responsibilities& r, FeatureBlock& block) override {
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      change_[chunk][i] += joining_entropy(r, {pairs_[i].a, pairs_[i].b}, block);
  }

  Vec total() const {
    Vec out(pairs_.size(), 0.0);
    for (const Vec& c : change_)
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += c[i];
    return out;
  }

 private:
  const std::vector<Pair>& pairs_;
  std::vector<Vec> change_;
};

class MixtureMerge final : public Move {
 public:
  MixtureMerge(const MoveContext& context, const MixtureAlloc& alloc) : c_(context), alloc_(alloc) {}

  // Pairs whose bound on the gain is positive, best first.
  bool prepare(const State& state) override {
    const Summary& s = state.total;
    const Vec evidence = evidence_of_merging(c_.problem.obs, s, c_.pool);
    for (Index a = 0; a < s.k; ++a)
      for (Index b = a + 1; b < s.k; ++b)
        if (evidence[a * s.k + b] > -INFINITY && may_join(state, a, b) &&
            c_.memory.merge_worth_trying(a, b, s.size(a), s.size(b)))
          pairs_.push_back({a, b, evidence[a * s.k + b]});
    keep_best(scored_at_most);
    const Vec counts = s.sizes();
    const double before = allocation_value(alloc_, counts);
    for (Pair& pair : pairs_) {
      c_.pool.poll();
      Vec merged = counts;
      merged[pair.a] += merged[pair.b];
      if (alloc_.fixed_k() > 0)
        merged[pair.b] = 0;
      else
        merged.erase(merged.begin() + pair.b);
      pair.score += allocation_value(alloc_, merged) - before;
    }
    pairs_.erase(
        std::remove_if(pairs_.begin(), pairs_.end(), [](const Pair& pair) { return pair.score <= 0; }),
        pairs_.end());
    keep_best(c_.options.max_merges);
    entropy_.resize(state.batch.size());
    return !pairs_.empty();
  }

  ResponsibilitySink* watch(const State&, Index) override {
    sink_ = std::make_unique<PairEntropy>(pairs_);
    return sink_.get();
  }

  void after_batch(State&, Index b) override { entropy_[b] = sink_->total(); }

  void after_lap(State& state) override {
    std::vector<Index> number(static_cast<std::size_t>(state.k()));  // current number of an original cluster
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
      if (proposed.elbo <= state.elbo + rounding_of(state.elbo)) {
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
  std::unique_ptr<PairEntropy> sink_;
};

}  // namespace

std::unique_ptr<Move> make_mixture_merge(const MoveContext& context, const MixtureAlloc& alloc) {
  return std::make_unique<MixtureMerge>(context, alloc);
}

}  // namespace bnpvi::mixtures
