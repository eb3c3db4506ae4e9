// Finds rows that are extreme points of a set of rows, where each row is known only with errors.
#pragma once
#include "foundation/pool.h"

namespace bnpvi::topics {

/// Finds at most k rows that are far apart, by Gram–Schmidt with pivots, and returns their numbers. The
/// longest row becomes the origin; then, repeatedly, the row with the longest residual is chosen, and its
/// direction is projected out of all residuals. a and b (n × m) are two independent estimates of the rows.
/// Origin and directions are computed for each separately, so that their errors stay independent and the
/// product ⟨a, b⟩ of a row's two residuals is an unbiased estimate of its squared length. The mean of the two
/// residuals is more signal than noise when ⟨a, b⟩ > |a − b|²/4. Such rows are chosen first; with `clear`, no
/// other rows are chosen. The first `given` rows are chosen before all others.
std::vector<Index> far_apart(Vec a, Vec b, Index m, Index k, bool clear, Pool& pool, Index given = 0);

}  // namespace bnpvi::topics
