// Joins superfluous new topics of a proposal before it is accepted or refused.
#pragma once
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

/// Joins pairs of new topics that are alike, after the first round of visits of a proposal that divides
/// topics. Pairs whose joining raises the data term of the ELBO are joined, another round of visits follows,
/// and this is repeated until no such pair is left. Returns the number of new topics left.
Index join_alike(const MoveContext& context, TopicEdit& edit);

}  // namespace bnpvi::topics
