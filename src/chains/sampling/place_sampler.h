// The sampler of chains whose states have places.
#pragma once
#include <memory>

#include "chains/sampling/place_prior.h"
#include "observations/obs_model.h"
#include "sampling/sampler.h"

namespace bnpvi::chains {

/// p(states of all rows, concentrations | x) of K states that are not alike, parameters of states integrated
/// out: labels of a chain are the numbers of the states, of which some may have no rows. A sweep draws the
/// learned concentrations, then transition probabilities and parameters of states given the paths, and whole
/// paths given these [Chib 1996]: forbidden transitions, and states that a row's label rules out, have
/// probability 0 in all of these steps. Each row must have an allowed path through it.
std::unique_ptr<Target> make_place_target(const ObsModel& obs, const Dataset& data, const PlacePrior& prior);

}  // namespace bnpvi::chains
