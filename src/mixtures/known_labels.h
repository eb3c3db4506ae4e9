// Known labels: r_nk = 0 for the clusters to which row n may not belong.
#pragma once
#include "inference/data/summary.h"
#include "observations/feature_block.h"

namespace bnpvi::mixtures {

/// Lowers the scores (n × m, row-major) of the block's rows first .. first + n − 1 for clusters to which they
/// may not belong, so far that their responsibilities are exactly 0; the others are the softmax of the rest.
/// owner: of the m clusters; empty: nothing is forbidden. Throws std::logic_error for a row that none of the
/// clusters may have.
void exclude_forbidden(const FeatureBlock& block, Index first, Index n, const std::vector<int>& owner,
                       double* score);

/// True when all of these clusters have the same owner.
bool one_owner(const Summary& s, const std::vector<Index>& clusters);

}  // namespace bnpvi::mixtures
