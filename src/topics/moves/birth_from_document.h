// A birth in a topic model from one whole document that the present topics explain badly.
#pragma once
#include <memory>

#include "foundation/random.h"
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

/// A new topic that starts from all tokens of one of the target's documents, whatever topics they have now,
/// so that it may take from many topics at once what a split of one topic cannot. The document is drawn with
/// probability proportional to what a topic of its own would explain better, Σ_u c_u max(0, w_u − log p_u),
/// p_u the probability of word u in the document as it is. The documents that would gain most from the new
/// topic are visited with it. The topics of `room`, one or none, go in the same proposal. Null: there is no
/// such document. Documents of counts only. The state must outlive the edit.
std::unique_ptr<TopicEdit> birth_from_document(const MoveContext& context, const TopicAlloc& alloc,
                                               const State& state, Index target, const Room& room,
                                               Stream& stream);

}  // namespace bnpvi::topics
