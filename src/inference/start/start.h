// Starts of a fit.
#pragma once
#include "foundation/pool.h"
#include "inference/learn/state.h"

namespace bnpvi {

/// Globals from seeds by Bregman k-means++ (spread) or drawn uniformly, improved by `rounds` rounds of
/// k-means. Of `tries` such clusterings the one with the least loss is used.
Globals start_from_seeds(const Problem& problem, Index k, bool spread, Index rounds, Index tries, Pool& pool);

/// Globals from scalable k-means++ of all rows (scalable_kmeans.h).
Globals start_from_all_rows(const Problem& problem, Index k, Pool& pool);

/// Globals from K blocks of at most 100 consecutive rows at random positions, one cluster each; no block
/// extends past the end of a group [Hughes 2016, §6.6].
Globals start_from_blocks(const Problem& problem, Index k);

/// Globals from at most k clusters that the allocation model finds by a method of its own (OwnStart).
Globals start_of_model(const Problem& problem, Index k, Pool& pool);

/// A complete state, given the responsibilities of all rows of the data.
State start_from_responsibilities(const Problem& problem, const GivenResponsibilities& resp, Pool& pool,
                                  const std::vector<int>& owner = {});

/// Makes the last batch, which has no units, stand for the data of the earlier fit from which the globals
/// come (Summary::settled). No batch of the state may have been visited yet.
void settle_earlier(const Problem& problem, State& state);

/// A state with the given globals, in which no batch has been visited yet.
State start_from_globals(const Problem& problem, Globals globals);

}  // namespace bnpvi
