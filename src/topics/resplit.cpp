// Topics near each other are joined and divided anew in one proposal: the escape of models with a fixed K
// from a wrong border between topics.
#include <algorithm>
#include <numeric>

#include "inference/neighbour_groups.h"
#include "topics/close_pairs.h"
#include "topics/division.h"
#include "topics/moves.h"

namespace bnpvi::topics {

namespace {

constexpr Index max_rounds = 8;  // of an edit: a guess

class TopicResplit final : public Move {
 public:
  TopicResplit(const MoveContext& context, const TopicAlloc& alloc) : c_(context), alloc_(alloc) {}

  // Pairs that are worth trying among the K nearest of all, nearest first.
  bool prepare(const State& state) override {
    const Summary& s = state.total;
    std::vector<TopicPair> near = close_pairs(c_, s, [&](Index a, Index b) {
      return s.size(a) > 0 && s.size(b) > 0 && may_join(state, a, b);
    });
    if (static_cast<Index>(near.size()) > s.k) near.resize(static_cast<std::size_t>(s.k));
    for (const TopicPair& pair : near)
      if (c_.memory.resplit_worth_trying({pair.a, pair.b}, {s.size(pair.a), s.size(pair.b)}) &&
          static_cast<Index>(pairs_.size()) < c_.options.max_births)
        pairs_.push_back(c_.memory.ids({pair.a, pair.b}));
    return !pairs_.empty();
  }

  void after_lap(State& state) override {
    for (const std::vector<std::uint64_t>& ids : pairs_) {
      std::vector<Index> target = c_.memory.numbers_of(ids);
      std::sort(target.begin(), target.end());
      if (target[0] < 0 || !may_join(state, target)) continue;
      ++tried_;
      if (propose(state, target, ids[0])) {
        ++accepted_;
        continue;
      }
      c_.memory.resplit_failed(target, sizes_of(target, state.total.sizes()), true);
    }
  }

 private:
  bool propose(State& state, const std::vector<Index>& target, std::uint64_t id) {
    const TopicDivision division(c_, alloc_, state, target);
    if (division.empty()) return false;
    Stream stream(c_.problem.seed, Purpose::merge_target, static_cast<std::uint64_t>(c_.lap), id);
    const Index k = static_cast<Index>(target.size());
    const Seeds seed = division.seeds(Division::clusters, k, k, stream);
    return seed.k > 1 && division.edit(seed, {})->climb(state, max_rounds);
  }

  MoveContext c_;
  const TopicAlloc& alloc_;
  std::vector<std::vector<std::uint64_t>> pairs_;  // identities: numbers change when a move is accepted
};

}  // namespace

std::unique_ptr<Move> make_topic_resplit(const MoveContext& context, const TopicAlloc& alloc) {
  return std::make_unique<TopicResplit>(context, alloc);
}

}  // namespace bnpvi::topics
