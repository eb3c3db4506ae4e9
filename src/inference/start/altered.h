// Starts made from the end of another fit.
#pragma once
#include "inference/learn/learn.h"

namespace bnpvi {

/// The progress with which a fit begins that starts from the end of another one, `best`, with some of its
/// clusters joined to one of the two nearest to them: a random share of them, at most half. Births then
/// divide these clusters anew, together with what has moved into them, which no single move could. What
/// failed for the other clusters is remembered, so that it is not tried again. problem: that of the new fit,
/// with the priors that the other one has learned; its seed says which clusters are joined.
Progress altered(const Problem& problem, const Progress& best, Pool& pool);

}  // namespace bnpvi
