// Counts of a few terms, under the prior of all.
#pragma once
#include <memory>
#include <vector>

#include "observations/obs_model.h"

namespace bnpvi {

/// Of the model of tokens (TokenCounts): counts of some terms and, as the last column, of all others
/// together. As long as the counts of the others stay as they are Λ differs from that of all terms by a
/// constant, and the weights of these terms are the same. The weight of the last column means nothing. Among
/// the terms, in ascending order, are those by which clusters have names.
std::shared_ptr<const ObsModel> counts_of_terms(const ObsModel& tokens, const std::vector<int>& terms);

}  // namespace bnpvi
