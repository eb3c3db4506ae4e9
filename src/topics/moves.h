// The moves of topic models, each by visiting the documents concerned again [Hughes 2016, §5.5].
#pragma once
#include "inference/move.h"
#include "topics/topic_model.h"

namespace bnpvi::topics {

std::unique_ptr<Move> make_topic_birth(const MoveContext& context, const TopicAlloc& alloc);
std::unique_ptr<Move> make_topic_merge(const MoveContext& context, const TopicAlloc& alloc);
std::unique_ptr<Move> make_topic_delete(const MoveContext& context, const TopicAlloc& alloc);

}  // namespace bnpvi::topics
