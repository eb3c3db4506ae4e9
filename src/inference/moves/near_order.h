// Globals (posterior of the parameters) of clusters that were put in another order.
#pragma once
#include <vector>

#include "inference/learn/state.h"

namespace bnpvi {

/// Initial globals for the search for the globals of the clusters in a new order; order[i]: the old number of
/// new cluster i. Only models with effects of covariates on the weights need them, since they would otherwise
/// search for all effects again. Sticks alone are found at once: the result is then empty.
///
/// The effects are in Globals::u, which has a row of numbers for each cluster. If the model has sticks
/// (has_sticks()), their û come before all rows, and a row begins with numbers for each cluster
/// (StoredPairs). If it has none and units are groups, a row begins with û and ω̂ of the cluster's stick.
Globals near_order(const AllocModel& alloc, const Globals& globals, const std::vector<Index>& order);

}  // namespace bnpvi
