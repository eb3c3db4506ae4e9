// Vectors that are copied only when one of their owners changes them.
#pragma once
#include <atomic>
#include <memory>
#include <utility>

#include "foundation/types.h"

namespace bnpvi {

/// A vector whose copies share their numbers until one of them is edited (copy on write): the summary of a
/// batch, the whole-data summary and the globals are often the same numbers. Different copies may be edited
/// by different threads. Of one copy edit() is called by one thread; several may then write to what it
/// returned.
class SharedVec {
 public:
  SharedVec() = default;
  SharedVec(Buffer numbers) : numbers_(std::make_shared<Buffer>(std::move(numbers))) {}
  SharedVec(const Vec& numbers) : SharedVec(Buffer(numbers.begin(), numbers.end())) {}

  std::size_t size() const { return numbers_ ? numbers_->size() : 0; }
  const double* data() const { return numbers_ ? numbers_->data() : nullptr; }
  const double* begin() const { return data(); }
  const double* end() const { return data() + size(); }
  double operator[](std::size_t i) const { return (*numbers_)[i]; }

  /// The numbers, for writing: copied first where other copies share them.
  Buffer& edit() {
    if (!numbers_)
      numbers_ = std::make_shared<Buffer>();
    else if (numbers_.use_count() > 1)
      numbers_ = std::make_shared<Buffer>(*numbers_);
    else  // copies that other threads made or dropped before come first
      std::atomic_thread_fence(std::memory_order_acquire);
    return *numbers_;
  }

 private:
  std::shared_ptr<Buffer> numbers_;
};

}  // namespace bnpvi
