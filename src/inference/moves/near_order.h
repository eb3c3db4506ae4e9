// Globals of clusters in another order.
#pragma once
#include <vector>

#include "inference/learn/state.h"

namespace bnpvi {

/// The start of the search for globals of the clusters in this order. It is of use to models with effects of
/// covariates on weights, which keep the effects in u and would otherwise search for all of them again. u has
/// a row of numbers for each cluster; it begins with û and ω̂ of the stick if these are stored there. In
/// models with sticks a row has numbers for each cluster (StoredPairs), then further ones. The result is
/// empty for sticks alone, which are found at once.
Globals near_order(const AllocModel& alloc, const Globals& globals, const std::vector<Index>& order);

}  // namespace bnpvi
