// Proposes new topics that start from whole documents which the present topics explain badly.
#pragma once
#include <memory>

#include "foundation/random.h"
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

/// Proposes a new topic that starts from all tokens of one document of topic `target`, whatever their topics
/// are now. Unlike a split of one topic it can take tokens from many topics at once. The document is drawn
/// with probability proportional to what a separate topic with word weights w would gain in it: Σ_u c_u
/// max(0, w_u − log p_u). c_u: count of word u in the document; p_u: its present probability there. The
/// documents that would gain most from the new topic are visited with it. If `room` names a topic to be
/// removed, the same proposal removes it. Returns null if there is no such document. For documents of counts
/// only. The state must outlive the edit.
std::unique_ptr<TopicEdit> birth_from_document(const MoveContext& context, const TopicAlloc& alloc,
                                               const State& state, Index target, const Room& room,
                                               Stream& stream);

}  // namespace bnpvi::topics
