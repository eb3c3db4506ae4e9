// Adds initial clusters for the priors that a model has for single clusters (names), and for classes of
// labelled rows.
#pragma once
#include "inference/learn/state.h"

namespace bnpvi {

/// Adds clusters to the start of a fit, for names and for classes of labels.
///
/// Names: a name is the number of a prior that the model has for a single cluster (NamedClusters). Each name
/// without a cluster gets one. Its statistic is Σ φ(x), the sum of features over rows, each row weighted by
/// the proportion of its values that are in the name's columns.
///
/// Classes: if units are groups of rows, each class of labels gets a cluster with the statistic Σ φ(x) over
/// the rows of the class. A row with several possible classes is divided equally among them. If a class and a
/// name are called the same, they have one cluster together, with the statistic of the class.
///
/// If the number of clusters is fixed, the new clusters replace the last ones, which should be empty or the
/// smallest. A name or class without any rows gets an empty cluster.
Globals with_known_clusters(const Problem& problem, Globals start, Pool& pool);

/// The number of clusters that with_known_clusters() adds.
Index n_known_clusters(const Problem& problem);

/// Gives each name of the model (the number of a prior for a single cluster) to the cluster that it suits
/// best. No cluster of `state`, a state of all rows, may have a name yet.
void give_names(const Problem& problem, State& state);

}  // namespace bnpvi
