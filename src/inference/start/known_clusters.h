// Initial clusters for known names and classes of labels.
#pragma once
#include "inference/learn/state.h"

namespace bnpvi {

/// Adds to a start one cluster for each name of the model (NamedClusters) that has none: its statistic is Σ
/// φ(x), each row weighted by the proportion of its values that are in the columns of the name. If units are
/// groups of rows, also adds one cluster for each class of labels: Σ φ(x) over the rows of the class, where
/// rows with several possible classes are divided equally among them. If K is fixed, the new clusters replace
/// the last ones, which should be empty or the smallest. A name or class without such rows gets a cluster
/// without rows.
Globals with_known_clusters(const Problem& problem, Globals start, Pool& pool);

/// The number of names and classes for which with_known_clusters() provides clusters.
Index n_known_clusters(const Problem& problem);

/// Gives names to a state of all rows that has none: each name goes to the cluster that it suits best.
void give_names(const Problem& problem, State& state);

}  // namespace bnpvi
