// Birth in a topic model. One topic is divided in all its documents, in one of several ways, which take
// turns: into as many topics as its words can tell apart (anchor_words.h); by clusters of documents into
// many, or into two; where documents have responses, by the signs of their residuals; or a whole document
// begins a topic (birth_from_document.h). Where K is fixed, idle topics are dropped, or a pair is joined in
// the same proposal. Newborn topics that are alike are joined before the rounds go on. The only topic of a
// model, from which all later ones come, gets more effort: all ways are tried, the first try compares three,
// and rounds go on for longer.
#include <algorithm>
#include <cmath>
#include <limits>

#include "inference/moves/last_open.h"
#include "inference/moves/trial.h"
#include "inference/moves/window.h"
#include "topics/moves/birth_from_document.h"
#include "topics/moves/close_pairs.h"
#include "topics/moves/division.h"
#include "topics/moves/join_newborns.h"
#include "topics/moves/moves.h"

namespace bnpvi::topics {

namespace {

// All are guesses.
constexpr Index max_rounds = 8;           // of an edit
constexpr Index max_rounds_of_only = 30;  // of one that divides the only topic
constexpr Index rounds_before_joins = 1;  // of newborns
constexpr Index rounds_before_joins_of_only = 2;
constexpr Index compared_rounds = 4;  // of several divisions, before the best goes on

// Ways of a birth.
enum class Way { anchors, many, two, document, residuals };

// The ways in the order in which they are tried after failures.
std::vector<Way> ways_of(bool counts, bool responses) {
  if (counts && responses) return {Way::anchors, Way::residuals, Way::many, Way::two, Way::document};
  if (counts) return {Way::anchors, Way::many, Way::two, Way::document};
  if (responses) return {Way::many, Way::residuals, Way::two};
  return {Way::many, Way::two, Way::two};
}

class TopicBirth final : public Move {
 public:
  TopicBirth(const MoveContext& context, const TopicAlloc& alloc) : c_(context), alloc_(alloc) {}

  bool prepare(const State& state) override {
    ids_ = birth_targets(c_, state, is_only(state) ? static_cast<int>(all_ways(state).size()) : 0);
    return !ids_.empty();
  }

  void after_lap(State& state) override {
    rank_pairs(state);
    in_windows(
        c_, static_cast<Index>(ids_.size()), [&](Index i) { return evaluated(state, ids_[i]); },
        [&](Index i, Evaluated& birth) { return commit(state, ids_[i], birth); });
  }

 private:
  Evaluated evaluated(const State& state, std::uint64_t id) const {
    const Index target = c_.memory.number_of(id);
    if (target < 0) return {};
    std::unique_ptr<TopicEdit> edit = proposal(state, target, id);
    const bool rises = edit && edit->rise(state, is_only(state) ? max_rounds_of_only : max_rounds);
    return {{id}, std::move(edit), rises};
  }

  bool commit(State& state, std::uint64_t id, Evaluated& birth) {
    const Index target = c_.memory.number_of(id);
    if (target < 0) return false;
    ++tried_;
    const double before = state.elbo;
    const Index failures = c_.memory.birth_failures(target);
    const bool accepted = birth.accepted(state);
    tell({"birth", {id}, failures, birth.edit ? birth.edit->proposed().elbo - before : NAN, accepted});
    if (accepted) {
      ++accepted_;
      c_.memory.birth_succeeded(c_.memory.number_of(id));
      rank_pairs(state);
    } else {
      c_.memory.birth_failed(target, state.total.size(target), leaves_out_two(state, failures));
    }
    return accepted;
  }

  // Whether the way after the one that has just failed is a division of documents of counts in two, which
  // only the only topic needs: newborns of the ways before it join down to two where that is better.
  bool leaves_out_two(const State& state, Index failures) const {
    if (is_only(state)) return false;
    const std::vector<Way> all = all_ways(state);
    const auto next = static_cast<std::size_t>(failures + 1) % all.size();
    return all[next] == Way::two && all.back() == Way::document;
  }

  void rank_pairs(const State& state) {
    if (alloc_.fixed_k() == 0) return;
    pairs_.clear();
    for (const TopicPair& pair : close_pairs(c_, state.total, c_.options.max_merges,
                                             [&](Index a, Index b) { return may_be_one(state, a, b); }))
      pairs_.push_back({pair.a, pair.b});
  }

  static bool is_only(const State& state) { return occupied(state.total) == 1; }

  std::vector<Way> all_ways(const State& state) const {
    return ways_of(rows_are_documents(c_.problem.obs, c_.problem.source.shape()),
                   alloc_.response() && alloc_.response()->n_known(state.total) > 0);
  }

  // The ways that one proposal compares.
  std::vector<Way> ways(const State& state, Index target) const {
    const std::vector<Way> all = all_ways(state);
    const Way next = all[static_cast<std::size_t>(c_.memory.birth_failures(target)) % all.size()];
    if (is_only(state) && next == Way::anchors) return {Way::anchors, Way::many, Way::two};
    return {next};
  }

  // Maximal number of new topics in a proposal: where K is fixed, the number of idle topics, or one in place
  // of a pair that is joined.
  Index most_born(const State& state, Index target) const {
    if (alloc_.fixed_k() == 0) return std::numeric_limits<Index>::max() - 1;
    const std::vector<Index> idle = idle_clusters(state);
    return std::max<Index>(1, static_cast<Index>(idle.size()) - std::count(idle.begin(), idle.end(), target));
  }

  // Topics to be removed for `born` new ones, without the target and the last topic of no class.
  Room make_room(const State& state, Index target, Index born) const {
    if (alloc_.fixed_k() == 0) return {};
    std::vector<Index> kept{target};
    for (Index j = 0; j < state.k(); ++j)
      if (is_last_open(state.total, j)) kept.push_back(j);
    return room_for(born, state, pairs_, kept);
  }

  // The proposal; null: there is nothing to try.
  std::unique_ptr<TopicEdit> proposal(const State& state, Index target, std::uint64_t id) const {
    TopicDivision division(c_, alloc_, state, {target});
    if (division.empty()) return nullptr;
    Stream stream(c_.problem.seed, Purpose::birth_seeds, static_cast<std::uint64_t>(c_.lap), id);
    std::unique_ptr<TopicEdit> best;
    const Index most = 1 + most_born(state, target);
    const std::vector<Way> all = ways(state, target);
    for (Way way : all) {
      if (way == Way::document) {
        const Room room = make_room(state, target, 1);
        if (alloc_.fixed_k() > 0 && room.size() != 1) return nullptr;
        return birth_from_document(c_, alloc_, state, target, room, stream);
      }
      const Seeds seed = way == Way::residuals
                             ? division.seeds_by_residual()
                             : division.seeds(way == Way::anchors ? Division::anchors : Division::clusters,
                                              way == Way::two ? 2 : c_.options.birth_size, most, stream);
      if (seed.k < 2) continue;
      const Room room = make_room(state, target, seed.k - 1);
      if (alloc_.fixed_k() > 0 && room.size() < seed.k - 1) continue;
      auto edit = division.edit(seed, room);
      if (alloc_.fixed_k() == 0 && seed.k > 2) {
        const Index rounds = is_only(state) ? rounds_before_joins_of_only : rounds_before_joins;
        for (Index n = 0; n < rounds; ++n) edit->round();
        if (join_alike(c_, *edit) < 2) continue;
      }
      while (all.size() > 1 && edit->rounds() < compared_rounds) edit->round();
      if (!best || edit->proposed().elbo > best->proposed().elbo) best = std::move(edit);
    }
    return best;
  }

  MoveContext c_;
  const TopicAlloc& alloc_;
  std::vector<std::uint64_t> ids_;
  std::vector<std::pair<Index, Index>> pairs_;  // where K is fixed: pairs that lose least by joining, best
                                                // first
};

}  // namespace

std::unique_ptr<Move> make_topic_birth(const MoveContext& context, const TopicAlloc& alloc) {
  return std::make_unique<TopicBirth>(context, alloc);
}

}  // namespace bnpvi::topics
