// The sampler of hidden Markov models: makes the posterior from which the states of all rows are drawn.
#pragma once
#include <memory>

#include "chains/sampling/path_prior.h"
#include "observations/obs_model.h"
#include "sampling/sampler.h"

namespace bnpvi::chains {

/// How a sweep (one update of the states of all rows) draws states: whole sequences (beam.h), splits and
/// merges of states (path_split_merge.h), single rows, or all three in turn. A single kind is for tests.
enum class PathStep { all, sequences, splits, rows };

/// Makes the posterior p(states of all rows, weights, concentrations | x) of a hidden Markov model, from
/// which samplers draw. The parameters of states are integrated out. Missing cells are not replaced by
/// expected values, since these would depend on the state of the row. split_merge: number of split and merge
/// proposals in each sweep. It must not depend on the present states, or the sampled distribution would be
/// wrong.
std::unique_ptr<Target> make_path_target(const ObsModel& obs, const Dataset& data, const PathPrior& prior,
                                         Index split_merge, PathStep step = PathStep::all);

}  // namespace bnpvi::chains
