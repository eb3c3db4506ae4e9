// Proposes new topics that start from whole documents which the present topics explain badly.
#pragma once
#include <memory>

#include "foundation/random.h"
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

/// Proposes a new topic that starts from all tokens of one document of topic `target`, whatever their present
/// topics are. Unlike a split of one topic, it can take tokens from many topics at once. The document is
/// drawn with probability proportional to what it would gain from a topic of its own:
///   Σ_u c_u max(0, w_u − log p_u).
/// c_u: count of word u in the document; w_u: E log of the probability of u in a topic that has the tokens of
/// this document alone; p_u: probability of u under the document's present topics. The documents that would
/// gain most from the new topic are visited in the proposal. room: topics that the same proposal removes to
/// make place for the new one; may be empty. Returns null if no document gains. Only for documents of counts.
/// The state must outlive the edit.
std::unique_ptr<TopicEdit> birth_from_document(const MoveContext& context, const TopicAlloc& alloc,
                                               const State& state, Index target, const Room& room,
                                               Stream& stream);

}  // namespace bnpvi::topics
