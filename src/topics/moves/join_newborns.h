// Joins superfluous new topics of a proposal before it is accepted or refused.
#pragma once
#include "topics/moves/topic_edit.h"

namespace bnpvi::topics {

/// Joins similar new topics of a proposal that divides topics, after its first round of visits. New topics
/// are joined in pairs if this raises the data term of the ELBO. Then documents are visited in another round.
/// This is repeated until no such pair is left. Returns the number of new topics that remain.
Index join_alike(const MoveContext& context, TopicEdit& edit);

}  // namespace bnpvi::topics
