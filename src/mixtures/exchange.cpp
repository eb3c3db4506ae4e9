// Joins a pair of clusters and splits another cluster in two, in one proposal. This helps finite mixtures
// that have two clusters where one would do, and one where two are needed.
#include <algorithm>
#include <numeric>
#include <set>

#include "mixtures/moves.h"
#include "mixtures/split_cluster.h"

namespace bnpvi::mixtures {

namespace {

constexpr std::size_t most_pairs =
    // disjoint pairs; for each split, the one that loses least is used: a guess
    5;

class MixtureExchange final : public Move {
 public:
  MixtureExchange(const MoveContext& context, const MixtureAlloc& alloc) : c_(context), alloc_(alloc) {}

  bool prepare(const State& state) override {
    if (state.k() < 3) return false;
    splits_ = birth_targets(c_, state);
    if (splits_.empty()) return false;
    for (std::uint64_t id : splits_) targets_.push_back({c_.memory.number_of(id)});
    choose_pairs(state);
    where_.resize(splits_.size(), std::vector<MassOnRows>(state.batch.size()));
    for (Pair& pair : pairs_) pair.entropy.resize(state.batch.size());
    return true;
  }

  std::unique_ptr<Watch> watch(const State&, Index) override {
    return std::make_unique<TargetRows>(targets_, n_cells(c_.problem.obs) > 0);
  }

  void after_batch(Index b, Watch* watch) override {
    const TargetRows& seen = static_cast<const TargetRows&>(*watch);
    for (std::size_t i = 0; i < splits_.size(); ++i) where_[i][b] = seen.rows_of(i);
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      pairs_[i].entropy[b] = seen.entropy_of_joining(splits_.size() + i);
  }

  void after_lap(State& state) override {
    for (Pair& pair : pairs_) pair.score += std::accumulate(pair.entropy.begin(), pair.entropy.end(), 0.0);
    std::stable_sort(pairs_.begin(), pairs_.end(),
                     [](const Pair& x, const Pair& y) { return x.score > y.score; });
    for (std::size_t i = 0; i < splits_.size(); ++i) {
      const Index target = c_.memory.number_of(splits_[i]);
      const auto pair = std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair& p) {
        return p.a != splits_[i] && p.b != splits_[i] && as_visited(p.a) && as_visited(p.b);
      });
      if (!as_visited(splits_[i]) || pair == pairs_.end()) continue;
      if (propose(state, *pair, i))
        changed_.insert({pair->a, pair->b, splits_[i]});
      else
        c_.memory.birth_failed(target, state.total.size(target));
    }
  }

 private:
  bool as_visited(std::uint64_t id) const { return changed_.count(id) == 0; }

  struct Pair {
    std::uint64_t a, b;  // identities; numbers change when a move is accepted
    double score;        // gain from joining, to which the entropy is added at the end of the lap
    Vec entropy;         // change of the entropy, by batch
  };

  // Disjoint pairs that lose least without the entropy, plus, for each cluster to split that is part of all
  // these pairs, one pair without it.
  void choose_pairs(const State& state) {
    const std::vector<Pair> all = ranked_pairs(state);
    std::set<std::uint64_t> used;
    for (const Pair& pair : all) {
      if (pairs_.size() == most_pairs) break;
      if (used.count(pair.a) + used.count(pair.b) > 0) continue;
      used.insert({pair.a, pair.b});
      pairs_.push_back(pair);
    }
    for (std::uint64_t split : splits_) {
      const auto without = [split](const Pair& pair) { return pair.a != split && pair.b != split; };
      if (std::any_of(pairs_.begin(), pairs_.end(), without)) continue;
      const auto pair = std::find_if(all.begin(), all.end(), without);
      if (pair != all.end()) pairs_.push_back(*pair);
    }
    for (const Pair& pair : pairs_)
      targets_.push_back({c_.memory.number_of(pair.a), c_.memory.number_of(pair.b)});
  }

  std::vector<Pair> ranked_pairs(const State& state) const {
    const Summary& s = state.total;
    const Vec evidence = evidence_of_merging(c_.problem.obs, s, c_.pool), counts = alloc_.counts(s);
    std::vector<Pair> all;
    for (Index a = 0; a < s.k; ++a)
      for (Index b = a + 1; b < s.k; ++b) {
        if (evidence[a * s.k + b] == -INFINITY || !may_join(state, a, b)) continue;
        Vec near = alloc_.joined_search(state.globals.u, a, b);
        const double score =
            evidence[a * s.k + b] + allocation_value(alloc_, joined_counts(alloc_, counts, a, b), &near);
        all.push_back({c_.memory.id(a), c_.memory.id(b), score, {}});
      }
    std::stable_sort(all.begin(), all.end(), [](const Pair& x, const Pair& y) { return x.score > y.score; });
    return all;
  }

  bool propose(State& state, const Pair& pair, std::size_t split) {
    ++tried_;
    Stream stream(c_.problem.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(c_.lap), splits_[split]);
    const bool risen =
        0 < join_and_split(c_, alloc_, state, {c_.memory.number_of(pair.a), c_.memory.number_of(pair.b)},
                           pair.entropy, splits_[split], where_[split], stream);
    if (risen) ++accepted_;
    return risen;
  }

  MoveContext c_;
  const MixtureAlloc& alloc_;
  std::vector<std::uint64_t> splits_;  // identities of the clusters to split
  std::vector<Pair> pairs_;
  std::set<std::uint64_t> changed_;             // identities of clusters in accepted proposals
  std::vector<Target> targets_;                 // the clusters to split, then the pairs
  std::vector<std::vector<MassOnRows>> where_;  // by split and batch
};

}  // namespace

std::unique_ptr<Move> make_mixture_exchange(const MoveContext& context, const MixtureAlloc& alloc) {
  return std::make_unique<MixtureExchange>(context, alloc);
}

}  // namespace bnpvi::mixtures
