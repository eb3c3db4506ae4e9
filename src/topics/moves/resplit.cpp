// Pairs and triples of topics near each other are joined and divided anew in one proposal: the escape from a
// wrong border between topics.
#include <algorithm>
#include <numeric>

#include "inference/moves/groups_to_divide.h"
#include "topics/moves/division.h"
#include "topics/moves/moves.h"

namespace bnpvi::topics {

namespace {

constexpr Index max_rounds = 8;             // of an edit: a guess
constexpr Index rounds_of_groups = 20;      // a guess
constexpr double least_size = least_share;  // tokens

class TopicResplit final : public Move {
 public:
  TopicResplit(const MoveContext& context, const TopicAlloc& alloc) : c_(context), alloc_(alloc) {}

  bool prepare(const State& state) override { return find_groups(state); }

  // Round after round, as a division that succeeds changes what is near.
  void after_lap(State& state) override {
    for (Index round = 0; round < rounds_of_groups; ++round) {
      for (const auto& ids : groups_) {
        ClusterGroup group = c_.memory.numbers_of(ids);
        std::sort(group.begin(), group.end());
        if (group[0] < 0 || !may_join(state, group)) continue;
        ++tried_;
        if (propose(state, group, ids[0], round))
          ++accepted_;
        else
          c_.memory.resplit_failed(group, sizes_of(group, state.total.sizes()), true);
      }
      if (!find_groups(state)) return;
    }
  }

 private:
  bool find_groups(const State& state) {
    groups_ = groups_to_divide(c_, state, least_size);
    return !groups_.empty();
  }

  bool propose(State& state, const ClusterGroup& group, std::uint64_t id, Index round) {
    const TopicDivision division(c_, alloc_, state, group);
    if (division.empty()) return false;
    Stream stream(c_.problem.seed, Purpose::merge_target,
                  static_cast<std::uint64_t>(c_.lap * rounds_of_groups + round), id);
    const Index k = static_cast<Index>(group.size());
    const Seeds seed = division.seeds(Division::clusters, k, k, stream);
    return seed.k > 1 && division.edit(seed, {})->climb(state, max_rounds);
  }

  MoveContext c_;
  const TopicAlloc& alloc_;
  std::vector<std::vector<std::uint64_t>> groups_;  // identities: numbers change when a move is accepted
};

}  // namespace

std::unique_ptr<Move> make_topic_resplit(const MoveContext& context, const TopicAlloc& alloc) {
  return std::make_unique<TopicResplit>(context, alloc);
}

}  // namespace bnpvi::topics
