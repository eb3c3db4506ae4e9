// A cheap forecast of the gain of deleting a cluster.
#pragma once
#include "inference/learn/state.h"
#include "mixtures/mixture.h"
#include "mixtures/touched_rows.h"

namespace bnpvi::mixtures {

struct DeletionForecast {
  double gain;      // of the ELBO
  double products;  // the work that it took, for Pool::spend()
};

/// Estimates by how much the ELBO rises if cluster `target` is deleted. The mass of the cluster is divided
/// among the other clusters by a few updates of q(z) of its rows alone [restricted local steps, Hughes 2016,
/// eq. 4.16]. At most 2^9 rows are used, evenly spaced among those with at least 1 % of their mass on the
/// target (`by_batch`), and weighted up to its size. The estimate is usually too low, since the other
/// clusters do not adapt. It decides only whether a delete is tried; the exact ELBO decides whether it is
/// accepted. Runs on the calling thread alone, so that several can be made at the same time.
DeletionForecast forecast_deletion(const Problem& problem, const MixtureAlloc& alloc, const State& state,
                                   Index target, const std::vector<TouchedRows>& by_batch, Pool& pool);

}  // namespace bnpvi::mixtures
