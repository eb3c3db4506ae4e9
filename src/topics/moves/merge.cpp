// Merge in a topic model: documents that use one of a pair are relabelled, those that use both visited again.
#include <utility>

#include "topics/moves/close_pairs.h"
#include "topics/moves/moves.h"
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

namespace {

constexpr Index max_rounds = 3;  // of an edit (a guess)

struct Pair {
  std::uint64_t a, b;  // identities: numbers change when a merge is accepted
};

// Documents that use both topics.
std::vector<DocumentRef> users_of_both(const State& state, Index a, Index b) {
  return documents_with(state, [&](Shares shares) { return uses(shares, a) && uses(shares, b); });
}

class TopicMerge final : public Move {
 public:
  TopicMerge(const MoveContext& context, const TopicAlloc& alloc) : c_(context), alloc_(alloc) {}

  // Pairs whose statistics lose least by being one. (Where K is fixed, some topics may be empty.)
  bool prepare(const State& state) override {
    const Summary& s = state.total;
    for (const TopicPair& pair : close_pairs(c_, s, [&](Index a, Index b) {
           return s.size(a) > 0 && s.size(b) > 0 && may_join(state, a, b) &&
                  c_.memory.merge_worth_trying(a, b, s.size(a), s.size(b));
         }))
      pairs_.push_back({c_.memory.id(pair.a), c_.memory.id(pair.b)});
    return !pairs_.empty();
  }

  void after_lap(State& state) override {
    for (const Pair& pair : pairs_) {
      Index a = c_.memory.number_of(pair.a), b = c_.memory.number_of(pair.b);
      if (a < 0 || b < 0 || !may_join(state, a, b)) continue;
      if (a > b) std::swap(a, b);
      ++tried_;
      if (propose(state, a, b))
        ++accepted_;
      else
        c_.memory.merge_failed(a, b, state.total.size(a), state.total.size(b));
    }
  }

 private:
  Changes changes(Index a, Index b) const { return keeping_fixed_k(alloc_, Changes().merge(a, b)); }

  // The ELBO when no document is visited again: exact but for the entropy of documents that use both.
  double predict(const State& state, Index a, Index b) const {
    const ObsModel& obs = c_.problem.obs;
    const Summary& s = state.total;
    Vec t(s.t(a), s.t(a) + s.shape.p);
    for (Index i = 0; i < s.shape.p; ++i) t[i] += s.t(b)[i];
    Summary merged = allocation_part(s);
    changes(a, b).apply(merged);
    return state.elbo + used_evidence(obs, t.data()) - used_evidence(obs, s.t(a)) -
           used_evidence(obs, s.t(b)) + sum_terms(alloc_.elbo_terms(merged, alloc_.global_step(merged, {}))) -
           sum_terms(alloc_.elbo_terms(s, state.globals));
  }

  bool propose(State& state, Index a, Index b) {
    const std::vector<DocumentRef> users = users_of_both(state, a, b);
    const double predicted = predict(state, a, b);
    const bool known = users.empty(), loses = known && predicted <= state.elbo;
    if (loses && !c_.problem.observer.wants_spared_work()) return false;
    TopicEdit edit(c_, alloc_, state, users, changes(a, b), max_rounds);
    edit.begin();
    if (known && c_.problem.observer.wants_spared_work()) {
      edit.round();
      c_.problem.observer.foreseen(predicted, edit.proposed());
    }
    return !loses && edit.climb(state, max_rounds, predicted);
  }

  MoveContext c_;
  const TopicAlloc& alloc_;
  std::vector<Pair> pairs_;
};

}  // namespace

std::unique_ptr<Move> make_topic_merge(const MoveContext& context, const TopicAlloc& alloc) {
  return std::make_unique<TopicMerge>(context, alloc);
}

}  // namespace bnpvi::topics
