// Serialisation: writes values, such as those of a fit in progress, to a string of bytes, and reads them
// back.
#pragma once
#include <cstdint>
#include <string>
#include <type_traits>

#include "foundation/types.h"

namespace bnpvi {

/// The bytes with which every output of a Writer begins (the name of the format).
std::string archive_mark();

/// Appends values to bytes(). Integers, numbers and flags take 8 bytes each, in the byte order of this
/// machine. The first bytes record this order.
class Writer {
 public:
  /// Writes the name of the format, a number from which a Reader recognises the byte order, and the version.
  Writer();

  void integer(std::int64_t x) { raw(&x, sizeof x); }
  void number(double x) { raw(&x, sizeof x); }
  void flag(bool x) { integer(x); }
  void text(const std::string& x);

  /// Writes the length of a vector, then its values, whose type must be one that can be copied as bytes.
  template <class Vector>
  void list(const Vector& x) {
    list(x.data(), x.size());
  }
  template <class T>
  void list(const T* x, std::size_t n) {
    static_assert(std::is_trivially_copyable_v<T>, "bytes of values only");
    integer(static_cast<std::int64_t>(n));
    raw(x, n * sizeof(T));
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void raw(const void* from, std::size_t size) { bytes_.append(static_cast<const char*>(from), size); }

  std::string bytes_;
};

/// Reads values in the order in which a Writer wrote them. Throws std::invalid_argument when the bytes have
/// another format, version or byte order, or are cut short.
class Reader {
 public:
  Reader(const void* bytes, std::size_t size);

  std::int64_t integer() { return value<std::int64_t>(); }
  double number() { return value<double>(); }
  bool flag() { return integer() != 0; }
  std::string text();

  template <class Vector>
  Vector list() {
    using T = typename Vector::value_type;
    Vector out;
    out.resize(length(sizeof(T)));
    raw(out.data(), out.size() * sizeof(T));
    return out;
  }

  /// True if every byte has been read.
  bool done() const { return at_ == end_; }

 private:
  template <class T>
  T value() {
    T x;
    raw(&x, sizeof x);
    return x;
  }
  /// Reads the length of the next list, whose values take `size` bytes each. Throws std::invalid_argument if
  /// fewer bytes are left than these values take.
  std::size_t length(std::size_t size);
  void raw(void* to, std::size_t size);

  const char *at_, *end_;
};

}  // namespace bnpvi
