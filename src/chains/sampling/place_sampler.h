// The sampler of hidden Markov chains whose states are not exchangeable (place_prior.h).
#pragma once
#include <memory>

#include "chains/sampling/place_prior.h"
#include "observations/obs_model.h"
#include "sampling/sampler.h"

namespace bnpvi::chains {

/// Makes the posterior p(states of all rows, concentrations | x) of a chain with K states and a pattern of
/// transitions (fixed, forbidden and free ones), from which samplers draw. The parameters of states are
/// integrated out. Labels are the numbers of the states; some states may have no rows. A sweep draws the
/// learned concentrations; then, given the paths, the transition probabilities and the parameters of states;
/// then whole paths given these [Chib 1996]. Forbidden transitions have probability 0 in all steps, and so
/// have states that the label of a row excludes. For each row there must be an allowed path through the row.
std::unique_ptr<Target> make_place_target(const ObsModel& obs, const Dataset& data, const PlacePrior& prior);

}  // namespace bnpvi::chains
