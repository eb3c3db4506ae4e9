// A model of the counts of a few terms, with the prior of all terms.
#pragma once
#include <memory>
#include <vector>

#include "observations/obs_model.h"

namespace bnpvi {

/// Makes, from a model of tokens (TokenCounts), a model of the counts of some terms. Its last column is the
/// total count of all other terms. As long as the counts of the other terms do not change, the log evidence Λ
/// differs from that of the model of all terms by a constant only. The weights of the chosen terms are the
/// same. The weight of the last column has no meaning. `terms` must be ascending, and include the terms by
/// which clusters are named.
std::shared_ptr<const ObsModel> counts_of_terms(const ObsModel& tokens, const std::vector<int>& terms);

}  // namespace bnpvi
