// Pairs of topics that lose least by joining.
#pragma once
#include <functional>

#include "inference/moves/move.h"

namespace bnpvi::topics {

/// May topics a and b be joined? Both have one owner: documents of another label may use an open topic, but
/// not one of this label.
inline bool may_be_one(const State& state, Index a, Index b) {
  return may_join(state, a, b) && state.total.owner_of(a) == state.total.owner_of(b);
}

struct TopicPair {
  Index a, b;    // a < b
  double score;  // Λ(T_a + T_b) − Λ(T_a) − Λ(T_b)
};

/// At most `most` pairs for which `wanted` is true, with the highest scores among the four times as many
/// with the smallest symmetric divergence ⟨s_a − s_b, w_a − w_b⟩ between their smoothed means, weighted by
/// the smaller topic: what joining loses, roughly. Best first.
std::vector<TopicPair> close_pairs(const MoveContext& context, const Summary& total, Index most,
                                   const std::function<bool(Index a, Index b)>& wanted);

}  // namespace bnpvi::topics
