// Assignment of names to clusters, in models with named clusters.
#pragma once
#include "inference/data/summary.h"
#include "observations/obs_model.h"

namespace bnpvi {

/// The one-to-one assignment of rows to columns with the largest sum, for value with n × m entries (n ≤ m):
/// returns the column of each row. By the Hungarian method, in time O(n² m).
std::vector<Index> best_assignment(const Vec& value, Index n, Index m);

/// Reassigns the names to those clusters that raise Σ Λ, the total log evidence, most, if the rise exceeds
/// the rounding error of an ELBO of this value. The statistics T and q(z) stay as they are, so that the ELBO
/// rises by the same amount. A name moves only to a cluster in which the name's own columns have at least as
/// large a proportion as in its present cluster: otherwise a prior that expects a small proportion would
/// prefer a cluster that hardly uses these columns to one in which they are frequent.
void rename(const ObsModel& obs, double elbo, Summary& s);

/// Gives the names of a model to clusters that have no names yet, so that the total proportion of the names'
/// own columns in these clusters is largest. If there are fewer clusters than names, empty clusters are
/// appended.
void give_names(const ObsModel& obs, Summary& s);

}  // namespace bnpvi
