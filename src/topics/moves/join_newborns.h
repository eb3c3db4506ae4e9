// Joins superfluous topics of a division before the proposal is accepted or refused.
#pragma once
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

/// Call after the first round of an edit that divides a target into several topics. Joins pairs of these
/// topics for which the data term gains, runs another round, and repeats this until no pair is left. Returns
/// the number of topics left.
Index join_alike(const MoveContext& context, TopicEdit& edit);

}  // namespace bnpvi::topics
