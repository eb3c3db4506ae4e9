// Superfluous topics of a division are joined within the proposal, before it is judged.
#pragma once
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

/// Topics into which an edit that has had a round divides its target: pairs that gain by joining, by the data
/// term, become one and a round follows, until there are none. Returns how many are left.
Index join_alike(const MoveContext& context, TopicEdit& edit);

}  // namespace bnpvi::topics
