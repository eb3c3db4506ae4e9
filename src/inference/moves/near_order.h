// Globals of clusters that are put in another order.
#pragma once
#include <vector>

#include "inference/learn/state.h"

namespace bnpvi {

/// The start of the search for globals of the clusters in this order. Models with effects of covariates on
/// weights keep their results in u and would otherwise search for every effect again: one row for each
/// cluster, after û and ω̂ of its stick if these are stored in u as well; in models with sticks one row for
/// each cluster with numbers for each cluster, then numbers of its own (StoredPairs). Sticks alone are found
/// at once.
Globals near_order(const AllocModel& alloc, const Globals& globals, const std::vector<Index>& order);

}  // namespace bnpvi
