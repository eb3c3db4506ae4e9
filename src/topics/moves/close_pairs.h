// Finds the pairs of topics whose joining would lose least.
#pragma once
#include <functional>

#include "inference/moves/move.h"

namespace bnpvi::topics {

/// Whether topics a and b may be joined. Topics may have an owner: a class whose documents alone may use the
/// topic. Both topics must have the same owner, or both none. (Documents of all classes use a topic without
/// owner, but would be excluded if it joined a topic with an owner.)
inline bool may_be_one(const State& state, Index a, Index b) {
  return may_join(state, a, b) && state.total.owner_of(a) == state.total.owner_of(b);
}

struct TopicPair {
  Index a, b;  // a < b
  double score;  // Λ(T_a + T_b) − Λ(T_a) − Λ(T_b), with Λ the log evidence and T the statistics of a topic
};

/// Finds at most `most` pairs of topics for which `wanted` is true, in descending order of their score. It
/// computes the scores of up to four times as many candidates. If there are more pairs, candidates are those
/// with the smallest product of the divergence ⟨s_a − s_b, w_a − w_b⟩ and the size of the smaller topic. s,
/// w: smoothed mean features and weights of a topic. This product is roughly the log evidence that is lost if
/// the topics are joined.
std::vector<TopicPair> close_pairs(const MoveContext& context, const Summary& total, Index most,
                                   const std::function<bool(Index a, Index b)>& wanted);

/// The gain of log evidence Λ(T_a + T_b) − Λ(T_a) − Λ(T_b) from joining topics a and b, K × K. Computed for
/// each topic and the eight topics that are nearest to it by the divergence of close_pairs(). All other
/// pairs, and pairs that may not be joined, have −∞.
Vec gains_of_joining_neighbours(const MoveContext& context, const Summary& total);

}  // namespace bnpvi::topics
