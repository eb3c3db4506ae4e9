// A cheap forecast of the gain of deleting a cluster.
#pragma once
#include "inference/learn/state.h"
#include "mixtures/mixture.h"
#include "mixtures/touched_rows.h"

namespace bnpvi::mixtures {

/// Estimates the gain of the ELBO when cluster `target` is deleted: its mass is divided among the other
/// clusters by a few updates of q(z) of its rows alone [restricted local steps, Hughes 2016, eq. 4.16]. Uses
/// at most 2^9 rows, evenly spaced among those with at least 1 % of their mass on the target (`by_batch`),
/// weighted up to the target's size. The estimate decides only whether a delete is tried; the exact ELBO
/// decides whether it is accepted. The estimate is usually too low, since the other clusters do not adapt.
double estimate_deletion(const Problem& problem, const MixtureAlloc& alloc, const State& state, Index target,
                         const std::vector<TouchedRows>& by_batch, Pool& pool);

}  // namespace bnpvi::mixtures
