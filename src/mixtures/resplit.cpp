// Joins two neighbouring clusters that share rows and splits them anew, which corrects a wrong border.
#include <algorithm>
#include <numeric>
#include <set>

#include "inference/moves/neighbour_groups.h"
#include "mixtures/moves.h"
#include "mixtures/split_cluster.h"

namespace bnpvi::mixtures {

namespace {

constexpr double least_shared =
    // entropy lost by joining, for each observation of the smaller cluster, from which a try is worthwhile;
    // a guess
    1e-3;

class MixtureResplit final : public Move {
 public:
  MixtureResplit(const MoveContext& context, const MixtureAlloc& alloc) : c_(context), alloc_(alloc) {}

  // Pairs that are worth a try, nearest first.
  bool prepare(const State& state) override {
    const Vec loss = evidence_of_merging(c_.problem.obs, state.total, c_.pool);
    targets_ = affordable(neighbour_groups(state.k(), loss, 2), state.total.sizes(), c_.options.max_births,
                          [&](const Target& pair, const Vec& sizes) {
                            return may_join(state, pair) && c_.memory.resplit_worth_trying(pair, sizes);
                          });
    const std::size_t n = state.batch.size();
    for (const Target& pair : targets_)
      pairs_.push_back({c_.memory.ids(pair), std::vector<MassOnRows>(n), Vec(n)});
    return !pairs_.empty();
  }

  std::unique_ptr<Watch> watch(const State&, Index) override {
    return std::make_unique<TargetRows>(targets_, n_cells(c_.problem.obs) > 0);
  }

  void after_batch(Index b, Watch* watch) override {
    const TargetRows& seen = static_cast<const TargetRows&>(*watch);
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      pairs_[i].where[b] = seen.rows_of(i);
      pairs_[i].entropy[b] = seen.entropy_of_joining(i);
    }
  }

  void after_lap(State& state) override {
    std::set<std::uint64_t> changed;
    for (const Pair& pair : pairs_) {
      if (std::any_of(pair.ids.begin(), pair.ids.end(), [&](auto id) { return changed.count(id) > 0; }))
        continue;
      const Target numbers = c_.memory.numbers_of(pair.ids);
      const Vec sizes = sizes_of(numbers, state.total.sizes());
      const double least = *std::min_element(sizes.begin(), sizes.end());
      const bool barely_shared = shared(pair) < least_shared * least;
      const double gain = barely_shared ? 0 : propose(state, pair, numbers);
      if (gain > 0) changed.insert(pair.ids.begin(), pair.ids.end());
      if (gain < worth_trying_again && known(pair))
        c_.memory.resplit_failed(c_.memory.numbers_of(pair.ids), sizes, barely_shared);
    }
  }

 private:
  struct Pair {
    std::vector<std::uint64_t> ids;  // numbers change when a move is accepted
    std::vector<MassOnRows> where;   // by batch
    Vec entropy;                     // its change by joining, by batch
  };

  // Entropy that is lost when the pair is joined; 0 if no row is shared.
  static double shared(const Pair& pair) {
    return -std::accumulate(pair.entropy.begin(), pair.entropy.end(), 0.0);
  }

  // The gain; 0 if the proposal was refused.
  double propose(State& state, const Pair& pair, const Target& numbers) {
    ++tried_;
    Stream stream(c_.problem.seed, Purpose::merge_target, static_cast<std::uint64_t>(c_.lap), pair.ids[0]);
    const double gain =
        join_and_split(c_, alloc_, state, numbers, pair.entropy, pair.ids[0], pair.where, stream);
    if (gain > 0) ++accepted_;
    return gain;
  }

  bool known(const Pair& pair) const {
    return std::all_of(pair.ids.begin(), pair.ids.end(),
                       [&](auto id) { return c_.memory.number_of(id) >= 0; });
  }

  MoveContext c_;
  const MixtureAlloc& alloc_;
  std::vector<Pair> pairs_;
  std::vector<Target> targets_;  // the pairs' clusters as the lap began
};

}  // namespace

std::unique_ptr<Move> make_mixture_resplit(const MoveContext& context, const MixtureAlloc& alloc) {
  return std::make_unique<MixtureResplit>(context, alloc);
}

}  // namespace bnpvi::mixtures
