// Decides which cluster gets which name, that is, which of the priors that a model has for single clusters.
#pragma once
#include "inference/data/summary.h"
#include "observations/named_clusters.h"

namespace bnpvi {

/// Assigns each of n rows to a column of its own, so that the sum of `value` (n × m, n ≤ m) over the chosen
/// entries is largest; returns the column of each row. Hungarian method, O(n² m) time.
std::vector<Index> best_assignment(const Vec& value, Index n, Index m);

/// Moves names to other clusters if that raises the total log evidence Σ_k Λ(T_k) of the clusters, and so the
/// ELBO, by more than the rounding error of an ELBO of this value; the statistics T and q(z) stay as they
/// are. A name (number of a prior of its own) stands for some columns of the data. It moves only to a cluster
/// of the same owner (class) in which these columns have at least as large a proportion as in the cluster
/// that it leaves. Without this rule a prior that expects a small proportion would prefer clusters that
/// hardly use the columns.
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
