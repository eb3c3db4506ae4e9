// Initial parameters of a fit.
#pragma once
#include "foundation/pool.h"
#include "inference/learn/state.h"

namespace bnpvi {

/// Initial global parameters from at most k rows as seeds, drawn far apart by Bregman k-means++ (spread) or
/// uniformly, and improved by `rounds` rounds of k-means. Of `tries` such clusterings the one with the least
/// loss is used.
Globals start_from_seeds(const Problem& problem, Index k, bool spread, Index rounds, Index tries, Pool& pool);

/// Initial global parameters from at most k clusters, by scalable k-means++ of all rows (scalable_kmeans.h).
Globals start_from_all_rows(const Problem& problem, Index k, Pool& pool);

/// Initial global parameters from k blocks of at most 100 consecutive rows at random positions, each of which
/// is one cluster; no block extends past the end of a group of rows [Hughes 2016, §6.6].
Globals start_from_blocks(const Problem& problem, Index k);

/// Initial global parameters from at most k clusters that the allocation model (prior of the assignments to
/// clusters) finds by its own method (OwnStart).
Globals start_of_model(const Problem& problem, Index k, Pool& pool);

/// A complete state of a fit, given q(z) of all rows. owner: for each cluster the class of labels it belongs
/// to, if any; may be empty.
State start_from_responsibilities(const Problem& problem, const GivenResponsibilities& resp, Pool& pool,
                                  const std::vector<int>& owner = {});

/// Makes the last batch, which has no units, stand for the data of an earlier fit, which this fit updates and
/// from which the global parameters come (Summary::settled). No batch of the state may have been visited yet.
void settle_earlier(const Problem& problem, State& state);

/// A state with the given global parameters, in which q(z) of no batch has been computed yet.
State start_from_globals(const Problem& problem, Globals globals);

}  // namespace bnpvi
