// Known labels of rows: the responsibility r_nk is 0 for clusters to which row n may not belong.
#pragma once
#include "inference/data/summary.h"
#include "observations/feature_block.h"

namespace bnpvi::mixtures {

/// Lowers the scores (n × m, row-major) of clusters where a row may not be, for rows first .. first + n − 1
/// of the block. The softmax of the scores is then exactly 0 for these clusters, and gives the
/// responsibilities of the others. owner: the class that owns each of the m clusters (class_sets.h); if
/// empty, nothing is forbidden. Throws std::logic_error if a row may be in none of the clusters.
void exclude_forbidden(const FeatureBlock& block, Index first, Index n, const std::vector<int>& owner,
                       double* score);

/// True if all of these clusters belong to the same class of labelled rows, or none of them to any class.
bool one_owner(const Summary& s, const std::vector<Index>& clusters);

}  // namespace bnpvi::mixtures
