// The proposals (moves) of topic models, each of which visits the affected documents again [Hughes 2016,
// §5.5].
#pragma once
#include "inference/moves/move.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

/// Makes the move that proposes new topics: splits of topics, and topics that start from whole documents.
std::unique_ptr<Move> make_topic_birth(const MoveContext& context, const TopicAlloc& alloc);
/// Makes the move that joins similar topics and divides them anew, with the same number of topics.
std::unique_ptr<Move> make_topic_resplit(const MoveContext& context, const TopicAlloc& alloc);
/// Makes the move that proposes to merge pairs of topics.
std::unique_ptr<Move> make_topic_merge(const MoveContext& context, const TopicAlloc& alloc);
/// Makes the move that proposes to delete topics, the smallest first.
std::unique_ptr<Move> make_topic_delete(const MoveContext& context, const TopicAlloc& alloc);

}  // namespace bnpvi::topics
