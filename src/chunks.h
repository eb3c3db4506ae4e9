// How the units of a batch are divided among tasks: a function of their number only.
#pragma once
#include <algorithm>

#include "types.h"

namespace bnpvi {

/// Number of chunks of n units, none below 1,024 units: at most 8, so that partial sums stay small.
inline Index count_chunks(Index n) { return std::clamp<Index>(n / 1024, 1, 8); }

/// Up to 32 where a chunk's sum has few numbers, 16 MB in all: threads share out many chunks more evenly.
inline Index count_chunks(Index n, Index numbers) {
  constexpr Index most = 32, all = Index{1} << 21;
  return std::min(std::clamp<Index>(all / numbers, count_chunks(n), most), std::max<Index>(n / 1024, 1));
}
inline Index chunk_begin(Index n, Index n_chunks, Index chunk) { return n * chunk / n_chunks; }
inline Index chunk_end(Index n, Index n_chunks, Index chunk) { return n * (chunk + 1) / n_chunks; }

}  // namespace bnpvi
