// The moves of topic models: proposals that change the list of topics. The affected documents are visited
// again in each proposal [Hughes 2016, §5.5].
#pragma once
#include "inference/moves/move.h"
#include "topics/model/topic_model.h"

namespace bnpvi::topics {

/// Birth: divides topics into new ones, or starts a new topic from a whole document.
std::unique_ptr<Move> make_topic_birth(const MoveContext& context, const TopicAlloc& alloc);
/// Resplit: joins similar topics and divides them anew, into as many topics.
std::unique_ptr<Move> make_topic_resplit(const MoveContext& context, const TopicAlloc& alloc);
/// Merge: joins two topics.
std::unique_ptr<Move> make_topic_merge(const MoveContext& context, const TopicAlloc& alloc);
/// Delete: removes a topic, the smallest topics first.
std::unique_ptr<Move> make_topic_delete(const MoveContext& context, const TopicAlloc& alloc);

}  // namespace bnpvi::topics
