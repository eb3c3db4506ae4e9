// Starts of clusters that are known: by names or by labels.
#pragma once
#include "inference/learn/state.h"

namespace bnpvi {

/// The start with a cluster more for each name of the model (NamedClusters) that none of its own has: its
/// statistic is Σ φ(x) times the share of a row's values that are in the columns of the name; and, where
/// units are groups of rows, for each class of labels: Σ φ(x) of its rows, of rows of several classes in
/// equal parts. Where K is fixed the last clusters give way, which are to be empty or the smallest. A name or
/// class without any such row begins with a cluster without rows.
Globals with_known_clusters(const Problem& problem, Globals start, Pool& pool);

/// How many clusters these are.
Index n_known_clusters(const Problem& problem);

/// A state of all rows that was given without names gets them: each name the cluster that it suits best.
void give_names(const Problem& problem, State& state);

}  // namespace bnpvi
