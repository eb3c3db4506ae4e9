// Merge in a topic model: documents that use one of a pair are relabelled, those that use both visited again.
// Where rows have scales (HiddenScales), the sum of two statistics is far from that of one topic, as scales
// were inferred under each: then all documents that use either are visited again.
#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/moves/trial.h"
#include "observations/hidden_scales.h"
#include "topics/moves/close_pairs.h"
#include "topics/moves/merge_forecast.h"
#include "topics/moves/moves.h"
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

namespace {

constexpr Index max_rounds = 3;        // of an edit (a guess)
constexpr Index most_foretold = 8192;  // pairs with forecasts in a lap: a guess
// A pair is not tried if its forecast loss is more than the first number of nats, and more than the second
// for each token of its smaller topic: visits of documents do not regain more (inst/design/decisions.md).
constexpr double lost_for_good = 30, lost_a_token = 0.5;

// Where rows have scales, as in merges of mixtures: rounds of an edit, edits in a lap, and nats for each row
// that visits may regain of what the sum of both statistics loses.
constexpr Index rounds_with_scales = 10, edits_with_scales = 3;
constexpr double lost_a_scale = 0.5;

struct Pair {
  std::uint64_t a, b;  // identities: numbers change when a merge is accepted
};

// Documents that use both topics, or either of them.
std::vector<DocumentRef> users_of_pair(const State& state, Index a, Index b, bool either) {
  return documents_with(state, [&](Shares shares) {
    const bool of_a = uses(shares, a), of_b = uses(shares, b);
    return either ? of_a || of_b : of_a && of_b;
  });
}

class TopicMerge final : public Move {
 public:
  TopicMerge(const MoveContext& context, const TopicAlloc& alloc)
      : c_(context),
        alloc_(alloc),
        scales_(hidden_scales(context.problem.obs) != nullptr),
        most_edits_(scales_ ? std::min(edits_with_scales, context.options.max_merges)
                            : context.options.max_merges) {}

  // Pairs whose statistics lose least by joining. There may be many, as most are refused by their forecasts.
  // (Where K is fixed, some topics may be empty.)
  bool prepare(const State& state) override {
    const Summary& s = state.total;
    for (const TopicPair& pair : close_pairs(c_, s, most_foretold, [&](Index a, Index b) {
           return s.size(a) > 0 && s.size(b) > 0 && may_be_one(state, a, b) &&
                  c_.memory.merge_worth_trying(a, b, s.size(a), s.size(b));
         }))
      pairs_.push_back({c_.memory.id(pair.a), c_.memory.id(pair.b)});
    return !pairs_.empty();
  }

  void after_lap(State& state) override {
    std::optional<MergeForecast> forecast;
    edits_ = 0;
    for (std::size_t i = 0; i < pairs_.size() && edits_ < most_edits_; ++i) {
      if (!forecast) forecast.emplace(c_, alloc_, state, numbers_from(i, state));
      const auto [a, b] = numbers_of(pairs_[i], state);
      if (a < 0) continue;
      ++tried_;
      const double before = state.elbo;
      const bool accepted = propose(state, a, b, *forecast);
      tell({"merge", {pairs_[i].a, pairs_[i].b}, 0, reached_ - before, accepted});
      if (accepted) {
        ++accepted_;
        forecast.reset();
      } else {
        c_.memory.merge_failed(a, b, state.total.size(a), state.total.size(b));
      }
    }
  }

 private:
  // The pair's present numbers; −1: one no longer exists, or they may not be joined.
  TopicNumbers numbers_of(const Pair& pair, const State& state) const {
    const Index a = c_.memory.number_of(pair.a), b = c_.memory.number_of(pair.b);
    if (a < 0 || b < 0 || !may_be_one(state, a, b)) return {-1, -1};
    return {std::min(a, b), std::max(a, b)};
  }

  std::vector<TopicNumbers> numbers_from(std::size_t first, const State& state) const {
    std::vector<TopicNumbers> out;
    for (std::size_t i = first; i < pairs_.size(); ++i)
      if (const TopicNumbers pair = numbers_of(pairs_[i], state); pair.first >= 0) out.push_back(pair);
    return out;
  }

  // A smaller forecast ends the proposal, if not all is known by the forecast.
  double least_forecast(const State& state, Index a, Index b) const {
    const double of_a = state.total.size(a), of_b = state.total.size(b);
    if (scales_) return -std::max(lost_for_good, lost_a_scale * (of_a + of_b));
    return -std::max(lost_for_good, lost_a_token * std::min(of_a, of_b));
  }

  bool propose(State& state, Index a, Index b, const MergeForecast& forecast) {
    const bool known = !scales_ && !forecast.shared(a, b), audited = c_.problem.observer.wants_spared_work();
    const double least = known ? 0 : least_forecast(state, a, b);
    const double before = state.elbo, gain = forecast.gain(a, b, known && audited ? -HUGE_VAL : least);
    const bool loses = known ? gain <= 0 : gain < least;
    const Index rounds = scales_ ? rounds_with_scales : max_rounds;
    reached_ = NAN;
    if (loses && !audited) return false;
    if (!known && !loses) ++edits_;
    TopicEdit edit(c_, alloc_, state, users_of_pair(state, a, b, scales_),
                   keeping_fixed_k(alloc_, Changes().merge(a, b)), rounds);
    edit.begin();
    if (known && audited) {
      edit.round();
      c_.problem.observer.foreseen(before + gain, edit.proposed());
    }
    const double begins_at = scales_ ? -HUGE_VAL : before + gain;
    if (!known && loses) {
      edit.rise(state, rounds, begins_at);
      tell({"forecast of a merge", c_.memory.ids({a, b}), 0, edit.proposed().elbo - before, false});
      return false;
    }
    const bool climbs = !loses && edit.climb(state, rounds, begins_at);
    reached_ = edit.proposed().elbo;
    return climbs;
  }

  MoveContext c_;
  const TopicAlloc& alloc_;
  const bool scales_;  // do rows have scales?
  const Index most_edits_;
  std::vector<Pair> pairs_;
  Index edits_ = 0;       // merges of this lap for which documents were visited
  double reached_ = NAN;  // ELBO of the last one, NaN: none was made
};

}  // namespace

std::unique_ptr<Move> make_topic_merge(const MoveContext& context, const TopicAlloc& alloc) {
  return std::make_unique<TopicMerge>(context, alloc);
}

}  // namespace bnpvi::topics
