#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace bnpvi {

using Index = std::ptrdiff_t;
using Vec = std::vector<double>;

/// Leaves numbers that are given no value as they are found.
template <class T>
struct Unset : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Unset<U>;
  };
  Unset() = default;
  template <class U>
  Unset(const Unset<U>&) {}

  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Values>
  void construct(U* at, Values&&... values) {
    ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
  }
};

/// A Vec for large results: resize() does not pass over the memory, which is filled right after.
using Buffer = std::vector<double, Unset<double>>;

}  // namespace bnpvi
