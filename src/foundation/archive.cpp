#include "foundation/archive.h"

#include <cstring>
#include <stdexcept>

namespace bnpvi {

namespace {

constexpr char format[] = "bnpvi state";
constexpr std::int64_t version = 4;
constexpr std::int64_t order = 0x0102030405060708;

}  // namespace

std::string archive_mark() { return {format, sizeof format}; }

Writer::Writer() {
  raw(format, sizeof format);
  integer(order);
  integer(version);
}

void Writer::text(const std::string& x) { list(x); }

Reader::Reader(const void* bytes, std::size_t size) : at_(static_cast<const char*>(bytes)), end_(at_ + size) {
  char name[sizeof format];
  if (size < sizeof format || (raw(name, sizeof name), std::memcmp(name, format, sizeof name) != 0))
    throw std::invalid_argument("not a stored state of a fit");
  if (integer() != order)
    throw std::invalid_argument("a state that was stored on a machine with another order of bytes");
  if (const auto stored = integer(); stored != version)
    throw std::invalid_argument("a state stored in format " + std::to_string(stored) + ", not " +
                                std::to_string(version) + ": it is of another version of the package");
}

std::string Reader::text() { return list<std::string>(); }

std::size_t Reader::length(std::size_t size) {
  const std::int64_t n = integer();
  if (n < 0 || static_cast<std::uint64_t>(n) > static_cast<std::uint64_t>(end_ - at_) / size)
    throw std::invalid_argument("a stored state that is cut short or damaged");
  return static_cast<std::size_t>(n);
}

void Reader::raw(void* to, std::size_t size) {
  if (size == 0) return;
  if (static_cast<std::size_t>(end_ - at_) < size)
    throw std::invalid_argument("a stored state that is cut short or damaged");
  std::memcpy(to, at_, size);
  at_ += size;
}

}  // namespace bnpvi
