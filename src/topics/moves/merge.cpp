// Merge in a topic model: documents that use one of a pair are relabelled, those that use both visited again.
#include <algorithm>
#include <utility>

#include "topics/moves/close_pairs.h"
#include "topics/moves/merge_forecast.h"
#include "topics/moves/moves.h"
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

namespace {

constexpr Index max_rounds = 3;       // of an edit (a guess)
constexpr Index most_foretold = 512;  // pairs of a lap: a guess
// A pair is not tried where it is foretold to lose more nats than the first number and more for each token of
// its smaller topic than the second: more than visits of documents bring back (inst/design/decisions.md).
constexpr double lost_for_good = 30, lost_a_token = 0.5;

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

  // Pairs whose statistics lose least by being one. They may be many, as most are refused by their forecasts.
  // (Where K is fixed, some topics may be empty.)
  bool prepare(const State& state) override {
    const Summary& s = state.total;
    for (const TopicPair& pair : close_pairs(c_, s, most_foretold, [&](Index a, Index b) {
           return s.size(a) > 0 && s.size(b) > 0 && may_join(state, a, b) &&
                  c_.memory.merge_worth_trying(a, b, s.size(a), s.size(b));
         }))
      pairs_.push_back({c_.memory.id(pair.a), c_.memory.id(pair.b)});
    return !pairs_.empty();
  }

  void after_lap(State& state) override {
    std::optional<MergeForecast> forecast;
    edits_ = 0;
    for (std::size_t i = 0; i < pairs_.size() && edits_ < c_.options.max_merges; ++i) {
      if (!forecast) forecast.emplace(c_, alloc_, state, numbers_from(i, state));
      const auto [a, b] = numbers_of(pairs_[i], state);
      if (a < 0) continue;
      ++tried_;
      if (propose(state, a, b, *forecast)) {
        ++accepted_;
        forecast.reset();
      } else {
        c_.memory.merge_failed(a, b, state.total.size(a), state.total.size(b));
      }
    }
  }

 private:
  // Its present numbers; −1: it is gone, or may not be joined.
  TopicNumbers numbers_of(const Pair& pair, const State& state) const {
    const Index a = c_.memory.number_of(pair.a), b = c_.memory.number_of(pair.b);
    if (a < 0 || b < 0 || !may_join(state, a, b)) return {-1, -1};
    return {std::min(a, b), std::max(a, b)};
  }

  std::vector<TopicNumbers> numbers_from(std::size_t first, const State& state) const {
    std::vector<TopicNumbers> out;
    for (std::size_t i = first; i < pairs_.size(); ++i)
      if (const TopicNumbers pair = numbers_of(pairs_[i], state); pair.first >= 0) out.push_back(pair);
    return out;
  }

  bool propose(State& state, Index a, Index b, const MergeForecast& forecast) {
    const double before = state.elbo, gain = forecast.gain(a, b);
    const bool known = !forecast.shared(a, b), loses = known && gain <= 0;
    if (loses && !c_.problem.observer.wants_spared_work()) return false;
    const double smaller = std::min(state.total.size(a), state.total.size(b));
    if (!known && gain < -std::max(lost_for_good, lost_a_token * smaller)) return false;
    if (!known) ++edits_;
    TopicEdit edit(c_, alloc_, state, users_of_both(state, a, b),
                   keeping_fixed_k(alloc_, Changes().merge(a, b)), max_rounds);
    edit.begin();
    if (known && c_.problem.observer.wants_spared_work()) {
      edit.round();
      c_.problem.observer.foreseen(before + gain, edit.proposed());
    }
    return !loses && edit.climb(state, max_rounds, before + gain);
  }

  MoveContext c_;
  const TopicAlloc& alloc_;
  std::vector<Pair> pairs_;
  Index edits_ = 0;  // of this lap that documents were visited for
};

}  // namespace

std::unique_ptr<Move> make_topic_merge(const MoveContext& context, const TopicAlloc& alloc) {
  return std::make_unique<TopicMerge>(context, alloc);
}

}  // namespace bnpvi::topics
