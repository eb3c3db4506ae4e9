// Starts of a fit.
#pragma once
#include "foundation/pool.h"
#include "inference/learn/state.h"

namespace bnpvi {

/// Globals from Bregman k-means++ (spread) or uniformly drawn seeds, improved by `rounds` of k-means: of
/// `tries` such clusterings the one with the least loss.
Globals start_from_seeds(const Problem& problem, Index k, bool spread, Index rounds, Index tries, Pool& pool);

/// Globals from scalable k-means++ of all rows (scalable_kmeans.h).
Globals start_from_all_rows(const Problem& problem, Index k, Pool& pool);

/// Globals from K windows of at most 100 consecutive rows at random places, one cluster each; no window
/// reaches across the end of a group [Hughes 2016, §6.6].
Globals start_from_blocks(const Problem& problem, Index k);

/// Globals from at most k clusters that the allocation model finds (OwnStart).
Globals start_of_model(const Problem& problem, Index k, Pool& pool);

/// A complete state from responsibilities of all rows of the data.
State start_from_responsibilities(const Problem& problem, const GivenResponsibilities& resp, Pool& pool,
                                  const std::vector<int>& owner = {});

/// Makes the last batch of a state that has no visits yet, a batch without units, stand for the data of the
/// earlier fit from which the globals come (Summary::settled).
void settle_earlier(const Problem& problem, State& state);

/// A state at the given globals in which no batch has been visited yet.
State start_from_globals(const Problem& problem, Globals globals);

}  // namespace bnpvi
