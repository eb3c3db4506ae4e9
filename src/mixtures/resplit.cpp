// Two clusters that share rows are joined and split anew: the escape from a wrong border between them.
#include <algorithm>
#include <numeric>

#include "mixtures/moves.h"
#include "mixtures/split_cluster.h"

namespace bnpvi::mixtures {

namespace {

constexpr Index partners = 2;  // each cluster is tried with so many of those nearest to it; guesses
constexpr double least_shared =
    1e-3;  // entropy lost by joining, per observation of the smaller cluster, that is worth a try

class MixtureResplit final : public Move {
 public:
  MixtureResplit(const MoveContext& context, const MixtureAlloc& alloc) : c_(context), alloc_(alloc) {}

  // Disjoint pairs of near clusters that are worth trying, nearest first.
  bool prepare(const State& state) override {
    const Summary& s = state.total;
    const Index k = s.k;
    const Vec loss = evidence_of_merging(c_.problem.obs, s, c_.pool);
    std::vector<BirthTarget> near;
    for (Index a = 0; a < k; ++a) {
      std::vector<Index> others;
      for (Index b = 0; b < k; ++b)
        if (b != a) others.push_back(b);
      const Index m = std::min<Index>(partners, static_cast<Index>(others.size()));
      std::partial_sort(others.begin(), others.begin() + m, others.end(),
                        [&](Index x, Index y) { return loss[a * k + x] > loss[a * k + y]; });
      for (Index i = 0; i < m; ++i) near.push_back({std::min(a, others[i]), std::max(a, others[i])});
    }
    std::stable_sort(near.begin(), near.end(), [&](const BirthTarget& x, const BirthTarget& y) {
      return loss[x.a * k + x.b] > loss[y.a * k + y.b];
    });
    std::vector<bool> used(static_cast<std::size_t>(k), false);
    for (const BirthTarget& pair : near) {
      const auto [a, b] = pair;
      if (used[a] || used[b] || !c_.memory.resplit_worth_trying(a, b, s.size(a), s.size(b))) continue;
      if (static_cast<Index>(pairs_.size()) == c_.options.max_births) break;
      used[a] = used[b] = true;
      pairs_.push_back(pair);
      ids_.push_back({c_.memory.id(a), c_.memory.id(b)});
    }
    where_.resize(pairs_.size(), std::vector<MassOnRows>(state.batch.size()));
    entropy_.resize(pairs_.size(), Vec(state.batch.size(), 0.0));
    return !pairs_.empty();
  }

  ResponsibilitySink* watch(const State&, Index) override {
    sink_ = std::make_unique<TargetRows>(pairs_);
    return sink_.get();
  }

  void after_batch(State&, Index b) override {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      where_[i][b] = sink_->rows_of(i);
      entropy_[i][b] = sink_->entropy_of_joining(i);
    }
  }

  void after_lap(State& state) override {
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const Index a = c_.memory.number_of(ids_[i].first), b = c_.memory.number_of(ids_[i].second);
      const double size_a = state.total.size(a), size_b = state.total.size(b);
      const bool barely_shared = shared(i) < least_shared * std::min(size_a, size_b);
      if (barely_shared || !propose(state, a, b, i))
        c_.memory.resplit_failed(a, b, size_a, size_b, barely_shared);
    }
  }

 private:
  // Entropy that is lost when the pair is joined: 0 when no row is shared.
  double shared(std::size_t i) const { return -std::accumulate(entropy_[i].begin(), entropy_[i].end(), 0.0); }

  bool propose(State& state, Index a, Index b, std::size_t i) {
    ++tried_;
    Stream stream(c_.problem.seed, Purpose::merge_target, static_cast<std::uint64_t>(c_.lap), ids_[i].first);
    const bool risen = join_and_split(c_, alloc_, state, a, b, entropy_[i], ids_[i].first, where_[i], stream);
    if (risen) ++accepted_;
    return risen;
  }

  MoveContext c_;
  const MixtureAlloc& alloc_;
  std::vector<BirthTarget> pairs_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ids_;  // numbers change when a move is accepted
  std::vector<std::vector<MassOnRows>> where_;                // by pair and batch
  std::vector<Vec> entropy_;                                  // change when joined, by pair and batch
  std::unique_ptr<TargetRows> sink_;
};

}  // namespace

std::unique_ptr<Move> make_mixture_resplit(const MoveContext& context, const MixtureAlloc& alloc) {
  return std::make_unique<MixtureResplit>(context, alloc);
}

}  // namespace bnpvi::mixtures
