// Initial parameters of a fit.
#pragma once
#include "foundation/pool.h"
#include "inference/learn/state.h"

namespace bnpvi {

/// Initial global parameters from at most k rows as seeds. They are drawn far apart by Bregman k-means++
/// (spread) or uniformly, and improved by `rounds` rounds of k-means. This is done `tries` times; the
/// clustering with the least loss is used.
Globals start_from_seeds(const Problem& problem, Index k, bool spread, Index rounds, Index tries, Pool& pool);

/// Initial global parameters from at most k clusters, by scalable k-means++ of all rows (scalable_kmeans.h).
Globals start_from_all_rows(const Problem& problem, Index k, Pool& pool);

/// Initial global parameters from k clusters. Each is a block of at most 100 consecutive rows at a random
/// position. No block extends past the end of a group of rows [Hughes 2016, §6.6].
Globals start_from_blocks(const Problem& problem, Index k);

/// Initial global parameters from at most k clusters that the allocation model (prior of the assignments to
/// clusters) finds by its own method (OwnStart).
Globals start_of_model(const Problem& problem, Index k, Pool& pool);

/// A complete state of a fit, given the responsibilities q(z) of all rows. owner: for each cluster the class
/// of labels that it belongs to; empty if there are no classes.
State start_from_responsibilities(const Problem& problem, const GivenResponsibilities& resp, Pool& pool,
                                  const std::vector<int>& owner = {});

/// For a fit that updates an earlier one, whose data are no longer available: the last batch, which has no
/// units, gets the statistics of the global parameters as those of the earlier data (Summary::settled). No
/// batch of the state may have been visited yet.
void settle_earlier(const Problem& problem, State& state);

/// A state with the given global parameters, in which q(z) of no batch has been computed yet.
State start_from_globals(const Problem& problem, Globals globals);

}  // namespace bnpvi
