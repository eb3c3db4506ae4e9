// Names of clusters: some models have a separate prior for single clusters, and a name is the number of such
// a prior. This chooses the cluster that gets each name.
#pragma once
#include "inference/data/summary.h"
#include "observations/named_clusters.h"

namespace bnpvi {

/// Assigns each of n rows a different column, so that the sum of the chosen entries of `value` (n × m, n ≤ m)
/// is largest. Returns the column of each row. Hungarian method, O(n² m) time.
std::vector<Index> best_assignment(const Vec& value, Index n, Index m);

/// Moves names (numbers of separate priors) to other clusters if that raises Σ_k Λ(T_k), the log evidence of
/// the clusters. Then the ELBO rises by the same amount, since the statistics T and q(z) stay as they are.
/// The gain must exceed the rounding error of an ELBO of this value. A name stands for some columns of the
/// data. It moves only to a cluster of the same owner (class) in which the proportion of these columns is at
/// least as large as in its present cluster. Otherwise a prior that expects a small proportion would prefer
/// clusters that hardly use the columns.
void rename(const ObsModel& obs, double elbo, Summary& s);

/// How many clusters of no class must be appended so that each name of a model can have a cluster: one of the
/// class that is called the same, or of no class (NamedClusters::class_of()).
Index n_lacking_for_names(const NamedClusters& names, const Summary& s);

/// Gives the names of a model (numbers of priors of their own) to clusters, of which there are at least as
/// many and none has a name. Each name stands for some columns of the data; the choice maximises the total
/// proportion of these columns in the clusters that get their names, among clusters of the names' classes or,
/// where these are too few, among all.
void give_names(const ObsModel& obs, Summary& s);

}  // namespace bnpvi
