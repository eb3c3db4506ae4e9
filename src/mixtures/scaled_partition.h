// Collapsed Gibbs sampling of mixtures whose rows have unobserved scales (Student-t rows).
#pragma once
#include "mixtures/partition_sampler.h"

namespace bnpvi::mixtures {

/// Makes the posterior p(partition, scales, γ | x) of a mixture whose rows have unobserved scales u
/// (hidden_scales.h). Given the scales, parameters of clusters and their degrees of freedom are integrated
/// out, and rows together with their scales are drawn as rows of other models are. After each sweep over the
/// rows, every scale is drawn anew by slice sampling, given its cluster and all other scales. data: rows
/// without missing cells. Model and data must outlive the target.
std::unique_ptr<Target> make_scaled_target(const ObsModel& obs, const Dataset& data,
                                           const PartitionPrior& prior, Index split_merge);

}  // namespace bnpvi::mixtures
