// Finds extreme points among rows that are known only with errors.
#pragma once
#include "foundation/pool.h"

namespace bnpvi::topics {

/// Numbers of at most k rows far apart, by Gram–Schmidt with pivots: the longest row becomes the origin; then
/// the row with the longest residual is chosen and its direction projected out of all residuals, again and
/// again. a and b (n × m) are two independent estimates of the rows. Origin and directions are computed for
/// each separately, so that their errors stay independent and ⟨a, b⟩ of the two residuals of a row is an
/// unbiased estimate of its squared length; their mean is more signal than noise when ⟨a, b⟩ > |a − b|²/4.
/// Such rows are chosen first, and no others if `clear`. given: the first `given` rows are chosen before all
/// others.
std::vector<Index> far_apart(Vec a, Vec b, Index m, Index k, bool clear, Pool& pool, Index given = 0);

}  // namespace bnpvi::topics
