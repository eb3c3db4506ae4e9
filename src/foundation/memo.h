// Results of a function that is needed for the same arguments again and again.
#pragma once
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "foundation/types.h"

namespace bnpvi {

/// Remembers the results of a function of some numbers. When `most` results are there, all are forgotten. For
/// one thread.
template <class Result>
class Memo {
 public:
  explicit Memo(std::size_t most) : most_(most) {}

  /// The result for these arguments; calls make() if it is not known. The reference is valid until the next
  /// call.
  template <class Make>
  const Result& operator()(const Vec& arguments, Make make) {
    const auto found = known_.find(arguments);
    if (found != known_.end()) return found->second;
    if (known_.size() >= most_) known_.clear();
    return known_.emplace(arguments, make()).first->second;
  }

 private:
  struct Hash {
    std::size_t operator()(const Vec& arguments) const {
      std::uint64_t out = arguments.size();
      for (const double v : arguments) {
        std::uint64_t bits;
        std::memcpy(&bits, &v, sizeof bits);
        out = (out ^ bits) * 0x9e3779b97f4a7c15u;
        out ^= out >> 29;
      }
      return static_cast<std::size_t>(out);
    }
  };

  std::size_t most_;
  std::unordered_map<Vec, Result, Hash> known_;
};

}  // namespace bnpvi
