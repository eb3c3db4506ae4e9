// Starts made from the end of another fit.
#pragma once
#include "inference/learn/learn.h"

namespace bnpvi {

/// The state of progress with which a new fit begins, made from the end `best` of another fit. Up to half of
/// the clusters, chosen at random, are each joined to one of the two clusters nearest to them. Births in the
/// new fit then divide the joined clusters anew, together with rows that have moved into them, which no
/// single move could do. The failed moves of the other clusters are remembered, so they are not tried again.
/// problem: that of the new fit, with the priors that the other fit has learned; its seed determines which
/// clusters are joined.
Progress altered(const Problem& problem, const Progress& best, Pool& pool);

}  // namespace bnpvi
