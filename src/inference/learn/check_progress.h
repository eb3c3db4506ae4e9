// Whether a fit that was read from a file can be gone on with.
#pragma once
#include "inference/learn/progress.h"

namespace bnpvi {

/// Throws std::invalid_argument unless all sizes and numbers by which the engine looks things up are those of
/// a fit of this problem. A file may be whole and hold anything.
void require_progress(const Problem& problem, const Progress& progress);

/// The same of a summary of k clusters, but for its memory.
void require_summary(const Summary& summary, const SummaryShape& shape, Index k);

/// Throws std::invalid_argument, with what does not fit, unless `holds`.
void require_stored(bool holds, const char* what);

}  // namespace bnpvi
