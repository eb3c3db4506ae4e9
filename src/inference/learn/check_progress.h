// Checks whether a fit read from a file can be continued.
#pragma once
#include "inference/learn/progress.h"

namespace bnpvi {

/// Throws std::invalid_argument unless all sizes and all indices are possible in a fit of this problem. A
/// file may be undamaged and yet hold any numbers.
void require_progress(const Problem& problem, const Progress& progress);

/// Throws std::invalid_argument unless the sizes in this summary are possible for k clusters and this shape.
/// The unit memory in it (what the next visit starts from) is not checked.
void require_summary(const Summary& summary, const SummaryShape& shape, Index k);

/// Throws std::invalid_argument unless `holds` is true. what: names the mismatch in the message.
void require_stored(bool holds, const char* what);

}  // namespace bnpvi
