// Birth in a topic model. What the documents have of one topic is divided, in turn into as many as its words
// can tell apart (anchor_words.h), by clusters of documents into many and into two; or a whole document
// begins a topic (birth_from_document.h); where documents have responses also by the sign of what is left of
// these. Where K is fixed idle topics, or a pair that is joined in the same
// proposal, make room.
#include <algorithm>
#include <limits>

#include "topics/moves/birth_from_document.h"
#include "topics/moves/close_pairs.h"
#include "topics/moves/division.h"
#include "topics/moves/moves.h"

namespace bnpvi::topics {

namespace {

// Both are guesses.
constexpr Index max_rounds = 8;       // of an edit
constexpr Index compared_rounds = 4;  // of two divisions, before the better goes on

// How a birth goes about.
enum class Way { anchors, many, two, document, residuals };

Way way(int failures, bool counts, bool responses) {
  constexpr Way with_responses[] = {Way::anchors, Way::residuals, Way::many, Way::two, Way::document};
  if (counts && responses) return with_responses[failures % 5];
  constexpr Way of_rows[] = {Way::many, Way::residuals, Way::two};
  if (!counts && responses) return of_rows[failures % 3];
  if (!counts) return failures % 3 == 0 ? Way::many : Way::two;
  return static_cast<Way>(failures % 4);
}

class TopicBirth final : public Move {
 public:
  TopicBirth(const MoveContext& context, const TopicAlloc& alloc) : c_(context), alloc_(alloc) {}

  bool prepare(const State& state) override {
    ids_ = birth_targets(c_, state);
    return !ids_.empty();
  }

  void after_lap(State& state) override {
    rank_pairs(state);
    for (std::uint64_t id : ids_) {
      const Index target = c_.memory.number_of(id);
      if (target < 0) continue;
      ++tried_;
      if (propose(state, target, id)) {
        ++accepted_;
        c_.memory.birth_succeeded(c_.memory.number_of(id));
        rank_pairs(state);
      } else {
        c_.memory.birth_failed(target, state.total.size(target));
      }
    }
  }

 private:
  void rank_pairs(const State& state) {
    if (alloc_.fixed_k() == 0) return;
    pairs_.clear();
    for (const TopicPair& pair :
         close_pairs(c_, state.total, [&](Index a, Index b) { return may_join(state, a, b); }))
      pairs_.push_back({pair.a, pair.b});
  }

  // The only topic is divided in two ways, and the better one goes on: all later topics come from it.
  std::vector<Way> ways(const State& state, Index target) const {
    const Way next =
        way(c_.memory.birth_failures(target), rows_are_documents(c_.problem.obs, c_.problem.source.shape()),
            alloc_.response() && alloc_.response()->n_known(state.total) > 0);
    if (occupied(state.total) == 1 && next == Way::anchors) return {Way::anchors, Way::many};
    return {next};
  }

  // Newborns of a proposal, at most: where K is fixed as many as there are idle topics, or one in the place
  // of a pair that is joined.
  Index most_born(const State& state, Index target) const {
    if (alloc_.fixed_k() == 0) return std::numeric_limits<Index>::max() - 1;
    const std::vector<Index> idle = idle_clusters(state);
    return std::max<Index>(1, static_cast<Index>(idle.size()) - std::count(idle.begin(), idle.end(), target));
  }

  // Room for so many, beside the target.
  Room make_room(const State& state, Index target, Index born) {
    if (alloc_.fixed_k() == 0) return {};
    return room_for(born, state, pairs_, {target});
  }

  bool propose(State& state, Index target, std::uint64_t id) {
    TopicDivision division(c_, alloc_, state, {target});
    if (division.empty()) return false;
    Stream stream(c_.problem.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(c_.lap), id);
    std::unique_ptr<TopicEdit> best;
    const Index most = 1 + most_born(state, target);
    const std::vector<Way> all = ways(state, target);
    for (Way way : all) {
      if (way == Way::document) {
        const Room room = make_room(state, target, 1);
        return (alloc_.fixed_k() == 0 || room.size() == 1) &&
               birth_from_document(c_, alloc_, state, target, room, stream);
      }
      const Seeds seed = way == Way::residuals
                             ? division.seeds_by_residual()
                             : division.seeds(way == Way::anchors ? Division::anchors : Division::clusters,
                                              way == Way::two ? 2 : c_.options.birth_size, most, stream);
      if (seed.k < 2) continue;
      const Room room = make_room(state, target, seed.k - 1);
      if (alloc_.fixed_k() > 0 && room.size() < seed.k - 1) continue;
      auto edit = division.edit(seed, room);
      for (Index n = 0; n < compared_rounds && all.size() > 1; ++n) edit->round();
      if (!best || edit->proposed().elbo > best->proposed().elbo) best = std::move(edit);
    }
    return best && best->climb(state, max_rounds);
  }

  MoveContext c_;
  const TopicAlloc& alloc_;
  std::vector<std::uint64_t> ids_;
  std::vector<std::pair<Index, Index>> pairs_;  // where K is fixed: that lose least by joining, best first
};

}  // namespace

std::unique_ptr<Move> make_topic_birth(const MoveContext& context, const TopicAlloc& alloc) {
  return std::make_unique<TopicBirth>(context, alloc);
}

}  // namespace bnpvi::topics
