// How the units of a batch are divided among tasks: a function of their number only.
#pragma once
#include <algorithm>

#include "types.h"

namespace bnpvi {

/// Number of chunks of n units: at most 8, so that partial sums stay small, none below 1,024 units.
inline Index count_chunks(Index n) { return std::clamp<Index>(n / 1024, 1, 8); }
inline Index chunk_begin(Index n, Index n_chunks, Index chunk) { return n * chunk / n_chunks; }
inline Index chunk_end(Index n, Index n_chunks, Index chunk) { return n * (chunk + 1) / n_chunks; }

}  // namespace bnpvi
