// Extreme points among rows that are known with errors.
#pragma once
#include "foundation/pool.h"

namespace bnpvi::topics {

/// At most k rows far apart, by Gram–Schmidt with pivots: the longest row is the origin of all others, then
/// the longest of what is left is taken out of the others, and so on. a and b (n × m) are independent
/// estimates of the rows. Each has an origin and directions of its own, so that the errors stay independent
/// and ⟨a, b⟩ of what is left of a row estimates its squared length without bias; the mean of the two is more
/// signal than noise when ⟨a, b⟩ > |a − b|²/4. Such rows come first, and alone if `clear`.
std::vector<Index> far_apart(Vec a, Vec b, Index m, Index k, bool clear, Pool& pool);

}  // namespace bnpvi::topics
