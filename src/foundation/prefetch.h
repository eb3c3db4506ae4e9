// Asking for memory before it is needed.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Starts to bring x[0] .. x[n − 1] into the caches, where the compiler has a way to say so. For data that
/// are next in a list and not in memory; whatever is there, nothing is read.
template <class T>
inline void prefetch([[maybe_unused]] const T* x, [[maybe_unused]] std::size_t n) {
#if defined(__GNUC__)
  constexpr std::size_t line = 64;
  const char* const from = reinterpret_cast<const char*>(x);
  for (std::size_t i = 0; i < n * sizeof(T); i += line) __builtin_prefetch(from + i);
#endif
}

}  // namespace bnpvi
