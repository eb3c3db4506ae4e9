// Prefetching of memory into the caches.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Makes the processor load x[0] .. x[n − 1] into the caches, for data that will be needed soon (GCC and
/// Clang; with other compilers it does nothing). The addresses need not be valid, as nothing is read.
template <class T>
inline void prefetch([[maybe_unused]] const T* x, [[maybe_unused]] std::size_t n) {
#if defined(__GNUC__)
  constexpr std::size_t line = 64;
  const char* const from = reinterpret_cast<const char*>(x);
  for (std::size_t i = 0; i < n * sizeof(T); i += line) __builtin_prefetch(from + i);
#endif
}

}  // namespace bnpvi
