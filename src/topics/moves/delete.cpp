// Delete in a topic model: the documents that use one topic are visited again without it.
#include <algorithm>
#include <cmath>

#include "inference/moves/last_open.h"
#include "inference/moves/trial.h"
#include "topics/moves/moves.h"
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

namespace {

constexpr Index max_rounds = 6;  // of an edit (a guess)

class TopicDelete final : public Move {
 public:
  TopicDelete(const MoveContext& context, const TopicAlloc& alloc) : c_(context), alloc_(alloc) {}

  // Topics that have not failed since they changed, the smallest first.
  bool prepare(const State& state) override {
    std::vector<Index> targets;
    for (Index j = 0; j < state.k() && state.k() > 1; ++j)
      if (may_go(state, j) && c_.memory.delete_worth_trying(j, state.total.size(j))) targets.push_back(j);
    std::stable_sort(targets.begin(), targets.end(),
                     [&](Index a, Index b) { return state.total.size(a) < state.total.size(b); });
    for (Index j : targets) ids_.push_back(c_.memory.id(j));
    return !ids_.empty();
  }

  // Stops after max_deletes failures, not tries: a start with far too many topics must not need a lap for
  // every few of them.
  void after_lap(State& state) override {
    for (std::uint64_t id : ids_) {
      if (tried_ - accepted_ == c_.options.max_deletes) return;
      const Index target = c_.memory.number_of(id);
      if (state.k() < 2) return;
      ++tried_;
      if (propose(state, target, id))
        ++accepted_;
      else
        c_.memory.delete_failed(target, state.total.size(target));
    }
  }

 private:
  // Where K is fixed, an empty topic may not be deleted, as it would come back.
  bool may_go(const State& state, Index j) const {
    return !has_settled(state, j) && !state.total.is_last_of_class(j) && !is_last_open(state.total, j) &&
           (alloc_.fixed_k() == 0 || state.total.size(j) > 0);
  }

  bool propose(State& state, Index target, std::uint64_t id) {
    const double before = state.elbo;
    TopicEdit edit(c_, alloc_, state, users_of(state, target),
                   keeping_fixed_k(alloc_, Changes().drop(target)), max_rounds);
    edit.begin();
    const bool accepted = edit.climb(state, max_rounds);
    tell({"delete", {id}, 0, edit.proposed().elbo - before, accepted});
    return accepted;
  }

  MoveContext c_;
  const TopicAlloc& alloc_;
  std::vector<std::uint64_t> ids_;
};

}  // namespace

std::unique_ptr<Move> make_topic_delete(const MoveContext& context, const TopicAlloc& alloc) {
  return std::make_unique<TopicDelete>(context, alloc);
}

}  // namespace bnpvi::topics
