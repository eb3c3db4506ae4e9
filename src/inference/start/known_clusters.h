// Adds initial clusters for the priors that a model has for single clusters (names), and for classes of
// labelled rows.
#pragma once
#include "inference/learn/state.h"

namespace bnpvi {

/// Adds clusters to the start of a fit, for names and for classes of labels. A name is the number of a prior
/// that the model has for a single cluster (NamedClusters). Each name that no cluster has yet gets a cluster
/// with the statistic Σ φ(x), the sum of features over rows, each weighted by the proportion of its values
/// that are in the name's columns. If units are groups of rows, each class of labels also gets one: Σ φ(x)
/// over the rows of the class, where rows with several possible classes are divided equally among them. A
/// class and a name that are called the same have one cluster together, with the statistic of the class. If
/// the number of clusters is fixed, the new clusters replace the last ones, which should be empty or the
/// smallest. A name or class without any rows gets an empty cluster.
Globals with_known_clusters(const Problem& problem, Globals start, Pool& pool);

/// The number of clusters that with_known_clusters() adds: those for names of the model and classes of
/// labels.
Index n_known_clusters(const Problem& problem);

/// Gives the names of the model (numbers of priors for single clusters) to clusters of a state of all rows,
/// none of which has a name yet: each name goes to the cluster that it suits best.
void give_names(const Problem& problem, State& state);

}  // namespace bnpvi
