// Which clusters the names go to.
#pragma once
#include "inference/data/summary.h"
#include "observations/obs_model.h"

namespace bnpvi {

/// The column of each row of n × m numbers (n ≤ m), each column at most once, with the largest sum: the
/// Hungarian method, time O(n² m).
std::vector<Index> best_assignment(const Vec& value, Index n, Index m);

/// Gives the names of these clusters to those that raise Σ Λ most, where it rises by more than rounding of an
/// ELBO of this value: T and q(z) stay as they are, so that the ELBO rises as much. A name goes only where
/// its own columns have at least as large a share as in the cluster that has it: a prior that expects a small
/// share prefers a cluster that hardly uses them to one in which they are many.
void rename(const ObsModel& obs, double elbo, Summary& s);

/// Gives the names of a model to clusters of which none has one, so that the shares of their columns are
/// largest in all; new clusters without observations come last where there are too few.
void give_names(const ObsModel& obs, Summary& s);

}  // namespace bnpvi
