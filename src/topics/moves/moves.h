// The moves of topic models, which visit the documents concerned again [Hughes 2016, §5.5].
#pragma once
#include "inference/moves/move.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

/// Births: splits of topics, and topics that start from whole documents.
std::unique_ptr<Move> make_topic_birth(const MoveContext& context, const TopicAlloc& alloc);
/// Resplits: similar topics are joined and divided anew; K is kept.
std::unique_ptr<Move> make_topic_resplit(const MoveContext& context, const TopicAlloc& alloc);
/// Merges of pairs of topics.
std::unique_ptr<Move> make_topic_merge(const MoveContext& context, const TopicAlloc& alloc);
/// Deletes of topics, smallest first.
std::unique_ptr<Move> make_topic_delete(const MoveContext& context, const TopicAlloc& alloc);

}  // namespace bnpvi::topics
