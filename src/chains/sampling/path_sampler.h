// The sampler of hidden Markov models: makes the posterior from which the states of all rows are drawn.
#pragma once
#include <memory>

#include "chains/sampling/path_prior.h"
#include "observations/obs_model.h"
#include "sampling/sampler.h"

namespace bnpvi::chains {

/// How a sweep (one update of the states of all rows) draws states: whole sequences (beam.h), splits and
/// merges of states (path_split_merge.h), or single rows; or all three in turn. A single kind of step is for
/// tests.
enum class PathStep { all, sequences, splits, rows };

/// Makes the posterior p(states of all rows, weights, concentrations | x) of a hidden Markov model, with the
/// parameters of states integrated out. The statistic of a row must not depend on its state, so missing cells
/// are not replaced by expected values. split_merge: number of split and merge proposals per sweep; it must
/// not depend on the present states, or the sampled distribution would be wrong.
std::unique_ptr<Target> make_path_target(const ObsModel& obs, const Dataset& data, const PathPrior& prior,
                                         Index split_merge, PathStep step = PathStep::all);

}  // namespace bnpvi::chains
