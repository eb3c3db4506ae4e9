// The sampler of hidden Markov models.
#pragma once
#include <memory>

#include "chains/sampling/path_prior.h"
#include "observations/obs_model.h"
#include "sampling/sampler.h"

namespace bnpvi::chains {

/// What a sweep draws states by: whole sequences (beam.h), splits and merges of states
/// (path_split_merge.h), single rows; or all in turn. One alone is for tests.
enum class PathStep { all, sequences, splits, rows };

/// p(states of all rows, weights, concentrations | x) of a hidden Markov model, parameters of states
/// integrated out. Rows whose statistic must not depend on the state: no cells are expected. split_merge:
/// proposals of splits and merges a sweep; a number that depended on the present states would spoil the law.
std::unique_ptr<Target> make_path_target(const ObsModel& obs, const Dataset& data, const PathPrior& prior,
                                         Index split_merge, PathStep step = PathStep::all);

}  // namespace bnpvi::chains
