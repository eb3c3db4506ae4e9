// Checksums, which show whether bytes have changed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bnpvi {

/// The checksum Σ_i word_i × key_i modulo 2^64 over words of 4 bytes. key_i is an odd pseudo-random number
/// that depends on the position of the word. A change of a single word always changes the sum; other changes
/// leave it the same with a probability of about 2^-32. Checksums of parts of the bytes can be added in any
/// order. Words of 0 add nothing, so bytes that were never written count as 0.
///
/// place: the position of the first word of `bytes` among all words.
inline std::uint64_t sum_of_words(const void* bytes, std::int64_t n_bytes, std::int64_t place) {
  const char* from = static_cast<const char*>(bytes);
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < n_bytes / 4; ++i) {
    std::uint32_t word;
    std::memcpy(&word, from + 4 * i, sizeof word);
    std::uint64_t key = static_cast<std::uint64_t>(place + i + 1) * 0x9e3779b97f4a7c15u;
    key = (key ^ (key >> 32)) * 0xd6e8feb86659fd93u;
    sum += word * ((key ^ (key >> 32)) | 1);
  }
  return sum;
}

}  // namespace bnpvi
