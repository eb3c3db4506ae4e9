// Division of the units of a batch (rows, or groups of rows) into chunks, one for each task; it depends only
// on the number of units.
#pragma once
#include <algorithm>

#include "foundation/types.h"

namespace bnpvi {

/// The largest power of two that is at most x, for x ≥ 1.
inline Index power_of_two_below(Index x) {
  Index out = 1;
  while (2 * out <= x) out *= 2;
  return out;
}

/// The number of chunks into which n units are divided. numbers: how many doubles the sum of one chunk has.
///
/// The number is a power of two, so that two, four or eight threads get equally many chunks. (With 9 chunks
/// of a batch of 10,000 rows, one of two threads had to wait.) No chunk has fewer than 512 units, since a
/// parallel call costs some 60 µs (pool.cpp). There are at most 8 chunks, so that their sums take little
/// memory; but up to 32 while the sums of all chunks take at most 16 MB. 512 and 8 are guesses.
inline Index count_chunks(Index n, Index numbers = Index{1} << 21) {
  constexpr Index fewest = 8, most = 32, all = Index{1} << 21;
  return power_of_two_below(std::min(std::clamp(all / numbers, fewest, most), std::max<Index>(n / 512, 1)));
}
/// The number of the first unit of a chunk, if n units are divided into n_chunks chunks of consecutive units.
inline Index chunk_begin(Index n, Index n_chunks, Index chunk) { return n * chunk / n_chunks; }
inline Index chunk_end(Index n, Index n_chunks, Index chunk) { return n * (chunk + 1) / n_chunks; }

}  // namespace bnpvi
