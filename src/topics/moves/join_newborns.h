// Joins superfluous new topics of a proposal before it is accepted or refused.
#pragma once
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

/// Joins pairs of new topics that are alike; to be called after the first round of visits of a proposal that
/// divides topics. Pairs for which the data term of the ELBO gains are joined, another round follows, and
/// this is repeated until no pair is left. Returns the number of new topics left.
Index join_alike(const MoveContext& context, TopicEdit& edit);

}  // namespace bnpvi::topics
