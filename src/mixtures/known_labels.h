// Known labels of rows: the responsibility r_nk is 0 for clusters to which row n may not belong.
#pragma once
#include "inference/data/summary.h"
#include "observations/feature_block.h"

namespace bnpvi::mixtures {

/// For rows first .. first + n − 1 of the block, lowers the scores (n × m, row-major) of clusters to which a
/// row may not belong so far that their responsibilities become exactly 0. Softmax of the scores then gives
/// the responsibilities of the other clusters. owner: the class that owns each of the m clusters
/// (class_sets.h); empty: nothing is forbidden. Throws std::logic_error if a row may belong to none of the
/// clusters.
void exclude_forbidden(const FeatureBlock& block, Index first, Index n, const std::vector<int>& owner,
                       double* score);

/// True when all of these clusters belong to the same class of labelled rows, or none of them belongs to a
/// class.
bool one_owner(const Summary& s, const std::vector<Index>& clusters);

}  // namespace bnpvi::mixtures
