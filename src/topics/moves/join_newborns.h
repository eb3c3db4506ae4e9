// Joins superfluous topics of a division before the proposal is accepted or refused.
#pragma once
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

/// For an edit, after its first round, that divides a target into several topics: joins pairs of these for
/// which the data term gains, runs another round, and repeats this until no pair is left. Returns the number
/// of topics left.
Index join_alike(const MoveContext& context, TopicEdit& edit);

}  // namespace bnpvi::topics
