// Joins pairs or triples of similar states and divides them anew in one proposal, which can move a wrong
// border between states.
#include <algorithm>
#include <cmath>

#include "chains/moves/division.h"
#include "chains/moves/moves.h"
#include "chains/moves/turns.h"
#include "inference/moves/groups_to_divide.h"

namespace bnpvi::chains {

namespace {

constexpr double longest_stretch = 16;  // rows: a guess
constexpr Index rounds_of_groups = 20;  // a guess
constexpr double least_size = 1;        // rows

class HmmResplit final : public HmmDivision {
 public:
  using HmmDivision::HmmDivision;

  bool prepare(const State& state) override { return find_groups(state); }

  // Tries groups in several rounds, since an accepted division changes which states are similar.
  void after_lap(State& state) override {
    if (!visit_until_converged(state)) return;
    for (Index round = 0; round < rounds_of_groups; ++round) {
      const auto has_turn = [&](Index i) {
        const ClusterGroup group = group_of(i);
        return group[0] >= 0 && may_join(state, group);
      };
      const auto propose_for = [&](HmmResplit& move, State& at, Index i) {
        Stream stream(c_.problem.seed, Purpose::merge_target,
                      static_cast<std::uint64_t>(c_.lap * rounds_of_groups + round), groups_[i][0]);
        return move.propose(at, group_of(i), stream);
      };
      const Index n = static_cast<Index>(groups_.size());
      Turns turns(*this, n, has_turn, propose_for);
      for (Index i = 0; i < n; ++i) {
        if (spent()) return;
        const ClusterGroup group = group_of(i);
        if (group[0] < 0 || !may_join(state, group)) continue;
        ++tried_;
        if (turns.take(state, i))
          ++accepted_;
        else
          c_.memory.resplit_failed(group, sizes_of(group, state.total.sizes()), false);
      }
      if (!find_groups(state)) return;
    }
  }

 private:
  bool find_groups(const State& state) {
    groups_ =
        groups_to_divide(c_, state, least_size, evidence_of_merging(c_.problem.obs, state.total, c_.pool));
    return !groups_.empty();
  }

  // The present numbers of the states of group i, ascending; −1 for states that are gone.
  ClusterGroup group_of(Index i) const {
    ClusterGroup group = c_.memory.numbers_of(groups_[i]);
    std::sort(group.begin(), group.end());
    return group;
  }

  bool propose(State& state, const ClusterGroup& group, Stream& stream) {
    const Sequences sequences = sequences_of(group, stream);
    const Index longest = std::lround(std::pow(longest_stretch, stream.uniform()));
    const Index k = static_cast<Index>(group.size());
    std::vector<Stretch> stretches = stretches_of(group, sequences, longest);
    return static_cast<Index>(stretches.size()) >= k &&
           divide(state, group, sequences, std::move(stretches), k, any_change, stream);
  }

  std::vector<std::vector<std::uint64_t>> groups_;  // identities: numbers change when a move is accepted
};

}  // namespace

std::unique_ptr<Move> make_hmm_resplit(const MoveContext& context, const HmmAlloc& alloc) {
  return std::make_unique<HmmResplit>(context, alloc);
}

}  // namespace bnpvi::chains
