// Joins pairs or triples of similar topics and divides them anew in one proposal, which can move a wrong
// border between topics.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "inference/moves/groups_to_divide.h"
#include "inference/moves/trial.h"
#include "inference/moves/window.h"
#include "topics/moves/close_pairs.h"
#include "topics/moves/division.h"
#include "topics/moves/moves.h"

namespace bnpvi::topics {

namespace {

constexpr Index max_rounds = 8;             // of an edit: a guess
constexpr Index rounds_of_groups = 20;      // a guess
constexpr double least_size = least_share;  // tokens
constexpr double margin = 0.1;              // nats a token that visits may add to a forecast; measured
                                            // (inst/design/decisions.md)
constexpr Index telling = 50;               // divisions without much gain in all after which the rest is
                                            // left: a guess

// Order of the k clusters after a group was divided into as many. One of the new ones takes the place of the
// group's first; it is `kept`, the member with statistics of earlier documents, if any has them (at most one
// does). The others come last.
std::vector<Index> order_after(Index k, const ClusterGroup& group, Index kept) {
  std::vector<Index> order;
  for (Index j = 0; j < k; ++j)
    if (j == group[0])
      order.push_back(kept);
    else if (!std::binary_search(group.begin(), group.end(), j))
      order.push_back(j);
  std::copy_if(group.begin(), group.end(), std::back_inserter(order), [kept](Index j) { return j != kept; });
  return order;
}

Index first_or_settled(const State& state, const ClusterGroup& group) {
  const auto found = std::find_if(group.begin(), group.end(), [&](Index j) { return has_settled(state, j); });
  return found == group.end() ? group[0] : *found;
}

class TopicResplit final : public Move {
 public:
  TopicResplit(const MoveContext& context, const TopicAlloc& alloc) : c_(context), alloc_(alloc) {}

  bool prepare(const State& state) override { return find_groups(state, true); }

  // Tries groups in several rounds, since an accepted division changes which topics are similar. If one gains
  // little, topics stay about as they were, and groups that failed with them are not tried again. Once many
  // divisions in a row have gained little together, the remaining groups count as failed, too.
  void after_lap(State& state) override {
    const double little = little_of(state);
    Index since = tried_;  // the last round after which much had been gained
    double then = state.elbo;
    for (Index round = 0; round < rounds_of_groups; ++round) {
      bool changed = false;
      in_windows(
          c_, static_cast<Index>(groups_.size()),
          [&](Index i) { return evaluated(state, groups_[i], round); },
          [&](Index i, Evaluated& division) {
            const std::vector<std::uint64_t>& ids = groups_[i];
            const ClusterGroup group = group_of(ids, state);
            if (group.empty()) return false;
            ++tried_;
            const double elbo = state.elbo;
            if (!division.edit && c_.problem.observer.wants_spared_work()) tell_refused(state, ids, round);
            const MoveMemory memory = c_.memory;
            const Index kept = first_or_settled(state, group);
            const bool accepted = division.accepted(state);
            if (division.edit) tell({"resplit", ids, 0, division.edit->proposed().elbo - elbo, accepted});
            if (accepted) {
              ++accepted_;
              if (state.elbo - elbo >= little || c_.memory.size() != memory.size()) return changed = true;
              stay_as_they_are(memory, order_after(memory.size(), group, kept));
            }
            failed(ids, state);
            return accepted;
          });
      if (state.elbo - then >= little) since = tried_, then = state.elbo;
      bool left = find_groups(state, changed);
      while (left && tried_ - since >= telling) {
        for (const auto& ids : groups_) failed(ids, state);
        left = find_groups(state, false);
      }
      if (!left) return;
    }
  }

 private:
  // Gain in nats that is not worth another search; a fit may end so far below its optimum.
  static double little_of(const State& state) {
    const Vec sizes = state.total.sizes();
    return std::max(1.0, 1e-5 * std::accumulate(sizes.begin(), sizes.end(), 0.0));
  }

  // Topics that are only reordered keep their identities and failures, and their similarities.
  void stay_as_they_are(MoveMemory memory, const std::vector<Index>& order) {
    memory.permute(order);
    c_.memory = std::move(memory);
    const std::size_t k = order.size();
    if (gains_.size() != k * k) return;
    const Vec before = gains_;
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < k; ++j)
        gains_[i * k + j] =
            before[static_cast<std::size_t>(order[i]) * k + static_cast<std::size_t>(order[j])];
  }

  static double size_of(const State& state, const ClusterGroup& group) {
    const Vec sizes = sizes_of(group, state.total.sizes());
    return std::accumulate(sizes.begin(), sizes.end(), 0.0);
  }

  void failed(const std::vector<std::uint64_t>& ids, const State& state) {
    const ClusterGroup group = c_.memory.numbers_of(ids);
    c_.memory.resplit_failed(group, sizes_of(group, state.total.sizes()), true);
  }

  bool find_groups(const State& state, bool changed) {
    if (changed) gains_ = gains_of_joining_neighbours(c_, state.total);
    groups_ = groups_to_divide(c_, state, least_size, gains_);
    return !groups_.empty();
  }

  // The group's present numbers, ascending; empty if one no longer exists or they may not be joined.
  ClusterGroup group_of(const std::vector<std::uint64_t>& ids, const State& state) const {
    ClusterGroup group = c_.memory.numbers_of(ids);
    std::sort(group.begin(), group.end());
    if (group[0] < 0 || !may_join(state, group)) return {};
    return group;
  }

  // The proposal to divide the group anew, before its rounds; null: there is nothing to try, or its forecast
  // is below −most_lost nats a token.
  std::unique_ptr<TopicEdit> proposal(const State& state, const std::vector<std::uint64_t>& ids, Index round,
                                      double most_lost) const {
    const ClusterGroup group = group_of(ids, state);
    if (group.empty()) return nullptr;
    const TopicDivision division(c_, alloc_, state, group);
    if (division.empty()) return nullptr;
    Stream stream(c_.problem.seed, Purpose::merge_target,
                  static_cast<std::uint64_t>(c_.lap * rounds_of_groups + round), ids[0]);
    const Index k = static_cast<Index>(group.size());
    const Seeds seed = division.seeds(Division::clusters, k, k, stream);
    if (seed.k < 2 || division.forecast(seed) < -most_lost * size_of(state, group)) return nullptr;
    return division.edit(seed, {});
  }

  Evaluated evaluated(const State& state, const std::vector<std::uint64_t>& ids, Index round) const {
    std::unique_ptr<TopicEdit> edit = proposal(state, ids, round, margin);
    const bool rises = edit && edit->rise(state, max_rounds);
    return {ids, std::move(edit), rises};
  }

  // For tests: what a division would have gained that its forecast refused.
  void tell_refused(const State& state, const std::vector<std::uint64_t>& ids, Index round) const {
    std::unique_ptr<TopicEdit> edit = proposal(state, ids, round, HUGE_VAL);
    if (!edit) return;
    edit->rise(state, max_rounds);
    tell({"forecast of a resplit", ids, 0, edit->proposed().elbo - state.elbo, false});
  }

  MoveContext c_;
  const TopicAlloc& alloc_;
  Vec gains_;                                       // gains of joining pairs
  std::vector<std::vector<std::uint64_t>> groups_;  // identities: numbers change when a move is accepted
};

}  // namespace

std::unique_ptr<Move> make_topic_resplit(const MoveContext& context, const TopicAlloc& alloc) {
  return std::make_unique<TopicResplit>(context, alloc);
}

}  // namespace bnpvi::topics
