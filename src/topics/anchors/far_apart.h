// Finds rows that are extreme points of a set of rows, where each row is known only with errors.
#pragma once
#include "foundation/pool.h"

namespace bnpvi::topics {

/// Chooses at most k of n rows that are far apart, by Gram–Schmidt with pivots, and returns their numbers.
/// The longest row becomes the origin; it is subtracted from all rows. Then the row with the longest
/// residual is chosen, its direction is projected out of all residuals, and so on.
///
/// a and b (n × m) are two independent estimates of the rows. Origin and directions are computed in each
/// estimate separately, so that errors stay independent. Then the product ⟨a, b⟩ of a row's two residuals is
/// an unbiased estimate of its squared length. If ⟨a, b⟩ > |a − b|²/4, the mean of the two residuals is more
/// signal than noise. Such rows are chosen before all others. clear: no other rows are chosen. given: the
/// first `given` rows are chosen before all.
std::vector<Index> far_apart(Vec a, Vec b, Index m, Index k, bool clear, Pool& pool, Index given = 0);

}  // namespace bnpvi::topics
