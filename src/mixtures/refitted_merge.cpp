// Merge of pairs that are compared only after they have been fitted together. What the rows of two clusters
// hide (their scales) was inferred under each, and the sum of both statistics is far from that of one
// cluster.
#include <algorithm>
#include <limits>

#include "inference/moves/unit_edit.h"
#include "mixtures/moves.h"
#include "mixtures/touched_rows.h"

namespace bnpvi::mixtures {

namespace {

constexpr Index tried_at_most =
    // pairs in each lap; with all pairs, planted sets ended the same
    3;
// Nats for each row that refitting may recover: a guess; .25 was observed. There is no such bound for
// individuals, who hide much: 200 of one kind in two halves lack 27 nats by their sums, and 0 after a visit.
constexpr double most_lost_of_rows = 0.5;
constexpr Index rounds = 10;  // of local steps; halves of one cluster are then within .1 nats of it

struct Pair {
  Index a, b;    // a < b
  double score;  // of the sum of both, without the entropy
};

class RefittedMerge final : public Move {
 public:
  RefittedMerge(const MoveContext& context, const MixtureAlloc& alloc) : c_(context), alloc_(alloc) {}

  // The pairs with the best sums, if refitting may recover what they lack.
  bool prepare(const State& state) override {
    const Summary& s = state.total;
    const Vec evidence = evidence_of_merging(c_.problem.obs, s, c_.pool);
    const double most_lost = c_.problem.obs->capabilities().individuals
                                 ? std::numeric_limits<double>::infinity()
                                 : most_lost_of_rows;
    for (Index a = 0; a < s.k; ++a)
      for (Index b = a + 1; b < s.k; ++b) {
        const double loss = evidence[a * s.k + b];
        if (loss > -most_lost * (s.size(a) + s.size(b)) - 1 && may_join(state, a, b) &&
            c_.memory.merge_worth_trying(a, b, s.size(a), s.size(b)))
          pairs_.push_back({a, b, loss});
      }
    std::stable_sort(pairs_.begin(), pairs_.end(),
                     [](const Pair& x, const Pair& y) { return x.score > y.score; });
    const Index most = std::min(tried_at_most, c_.options.max_merges);
    if (static_cast<Index>(pairs_.size()) > most) pairs_.resize(static_cast<std::size_t>(most));
    touched_.resize(state.batch.size());
    return !pairs_.empty();
  }

  std::unique_ptr<Watch> watch(const State&, Index) override {
    std::vector<Target> pairs;
    for (const Pair& pair : pairs_) pairs.push_back({pair.a, pair.b});
    return std::make_unique<TouchedSink>(pairs, true);
  }

  void after_batch(Index b, Watch* watch) override { touched_[b] = static_cast<TouchedSink&>(*watch).take(); }

  // After a pair is accepted, the other pairs have other rows and wait for another lap.
  void after_lap(State& state) override {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      ++tried_;
      if (propose(state, pairs_[i], rows_of(touched_, i))) {
        ++accepted_;
        return;
      }
      const auto& [a, b, score] = pairs_[i];
      c_.memory.merge_failed(a, b, state.total.size(a), state.total.size(b));
    }
  }

 private:
  bool propose(State& state, const Pair& pair, const std::vector<TouchedRows>& touched) {
    const Changes changes = keeping_fixed_k(alloc_, Changes().merge(pair.a, pair.b));
    Summary start = state.total;
    changes.apply(start);
    UnitEdit edit(c_, state, changes, parts_without(c_.problem, c_.pool, state, touched));
    edit.begin_at(alloc_.global_step(start, {}));
    return edit.climb(state, rounds);
  }

  MoveContext c_;
  const MixtureAlloc& alloc_;
  std::vector<Pair> pairs_;
  std::vector<RowsOfTargets> touched_;  // by batch
};

}  // namespace

std::unique_ptr<Move> make_refitted_merge(const MoveContext& context, const MixtureAlloc& alloc) {
  return std::make_unique<RefittedMerge>(context, alloc);
}

}  // namespace bnpvi::mixtures
