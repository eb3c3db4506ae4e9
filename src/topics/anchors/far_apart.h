// Finds rows that are extreme points of a set of rows, where each row is known only with errors.
#pragma once
#include "foundation/pool.h"

namespace bnpvi::topics {

/// Finds at most k rows that are far apart, by Gram–Schmidt with pivots, and returns their numbers. The
/// longest row becomes the origin. Then the row with the longest residual is chosen, its direction is
/// projected out of all residuals, and so on. a and b (n × m) are two independent estimates of the rows.
/// Origin and directions are computed for each separately, so their errors stay independent, and the product
/// ⟨a, b⟩ of a row's two residuals is an unbiased estimate of its squared length. If ⟨a, b⟩ > |a − b|²/4, the
/// mean of the two residuals is more signal than noise. Such rows are chosen first; with `clear` no others
/// are. The first `given` rows are chosen before all others.
std::vector<Index> far_apart(Vec a, Vec b, Index m, Index k, bool clear, Pool& pool, Index given = 0);

}  // namespace bnpvi::topics
