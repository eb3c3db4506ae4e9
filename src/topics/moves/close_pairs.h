// Finds the pairs of topics whose joining would lose least.
#pragma once
#include <functional>

#include "inference/moves/move.h"

namespace bnpvi::topics {

/// Whether topics a and b may be joined. Both must have the same owner (a class, whose documents alone may
/// use the topic), or none. A topic with an owner cannot join one without: documents of other classes use the
/// latter, but must not use the former.
inline bool may_be_one(const State& state, Index a, Index b) {
  return may_join(state, a, b) && state.total.owner_of(a) == state.total.owner_of(b);
}

struct TopicPair {
  Index a, b;    // a < b
  double score;  // Λ(T_a + T_b) − Λ(T_a) − Λ(T_b)
};

/// Returns at most `most` pairs of topics for which `wanted` is true, best score first. They are chosen from
/// four times as many candidates. These are the pairs with the smallest divergence ⟨s_a − s_b, w_a − w_b⟩
/// times the size of the smaller topic, with smoothed mean features s and weights w. This is roughly what the
/// log evidence loses if the topics are joined.
std::vector<TopicPair> close_pairs(const MoveContext& context, const Summary& total, Index most,
                                   const std::function<bool(Index a, Index b)>& wanted);

/// Λ(T_a + T_b) − Λ(T_a) − Λ(T_b), K × K, of each topic and the eight topics that are nearest to it by the
/// divergence of close_pairs(); −∞ for all other pairs, and for pairs that may not be joined.
Vec gains_of_joining_neighbours(const MoveContext& context, const Summary& total);

}  // namespace bnpvi::topics
