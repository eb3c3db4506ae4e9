// How the units of a batch are divided among tasks: a function of their number only.
#pragma once
#include <algorithm>

#include "foundation/types.h"

namespace bnpvi {

/// The largest power of two up to x ≥ 1.
inline Index power_of_two_below(Index x) {
  Index out = 1;
  while (2 * out <= x) out *= 2;
  return out;
}

/// Number of chunks of n units, none below 512 units: a power of two, so that two, four or eight threads get
/// equal shares, and at most 8, so that partial sums stay small; up to 32 where a chunk's sum has few
/// numbers, 16 MB in all.
inline Index count_chunks(Index n, Index numbers = Index{1} << 21) {
  constexpr Index fewest = 8, most = 32, all = Index{1} << 21;
  return power_of_two_below(std::min(std::clamp(all / numbers, fewest, most), std::max<Index>(n / 512, 1)));
}
inline Index chunk_begin(Index n, Index n_chunks, Index chunk) { return n * chunk / n_chunks; }
inline Index chunk_end(Index n, Index n_chunks, Index chunk) { return n * (chunk + 1) / n_chunks; }

}  // namespace bnpvi
