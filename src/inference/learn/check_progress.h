// Checks whether a fit read from a file can be continued.
#pragma once
#include "inference/learn/progress.h"

namespace bnpvi {

/// Throws std::invalid_argument unless all sizes, and all numbers that the engine uses as indices, are
/// possible in a fit of this problem. This is needed since a file may be undamaged and still hold any
/// numbers.
void require_progress(const Problem& problem, const Progress& progress);

/// Throws std::invalid_argument unless the sizes in a summary (sums of statistics) that was read are possible
/// for k clusters and this shape. Its unit memory (what the next visit needs) is not checked.
void require_summary(const Summary& summary, const SummaryShape& shape, Index k);

/// Throws std::invalid_argument unless `holds` is true. what: names the mismatch in the message.
void require_stored(bool holds, const char* what);

}  // namespace bnpvi
