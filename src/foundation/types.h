// Types of indices and vectors.
#pragma once
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace bnpvi {

using Index = std::ptrdiff_t;
using Vec = std::vector<double>;

/// A pointer to the elements of a vector, or null if the vector is empty (for functions that take null as a
/// default).
template <class T>
const T* data_or_null(const std::vector<T>& x) {
  return x.empty() ? nullptr : x.data();
}

/// Allocator of memory that is aligned to cache lines (64 bytes). Elements stay uninitialised if no value is
/// given.
template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t line{64};

  LineAllocator() = default;
  template <class U>
  LineAllocator(const LineAllocator<U>&) {}

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), line)); }
  void deallocate(T* at, std::size_t) { ::operator delete(at, line); }

  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Values>
  void construct(U* at, Values&&... values) {
    ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
  }
  friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
  friend bool operator!=(const LineAllocator&, const LineAllocator&) { return false; }
};

/// A vector of numbers for large results: resize() leaves new numbers uninitialised, for the caller to fill.
using Buffer = std::vector<double, LineAllocator<double>>;

}  // namespace bnpvi
