// Asking for memory before it is needed.
#pragma once
#include "types.h"

namespace bnpvi {

/// Starts to bring x[0] .. x[n − 1] into the caches, where the compiler has a way to say so. For data that
/// are next in a list and not in memory; whatever is there, nothing is read.
template <class T>
inline void prefetch([[maybe_unused]] const T* x, [[maybe_unused]] Index n) {
#if defined(__GNUC__)
  constexpr Index step = 64 / static_cast<Index>(sizeof(T));
  for (Index i = 0; i < n; i += step) __builtin_prefetch(x + i);
#endif
}

}  // namespace bnpvi
