// Vectors that are copied only when one of their owners changes them.
#pragma once
#include <atomic>
#include <memory>
#include <utility>

#include "foundation/types.h"

namespace bnpvi {

/// A vector whose copies share their numbers until one of the copies is edited (copy on write). This saves
/// memory, as the summary of a batch, the summary of all data and the globals (posterior of the parameters)
/// often hold the same numbers. Different threads may edit different copies. For one copy only one thread may
/// call edit(); several threads may then write to the buffer that it returned.
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

  /// The numbers of this vector, for writing. They are copied first if other vectors share them.
  Buffer& edit() {
    if (!numbers_)
      numbers_ = std::make_shared<Buffer>();
    else if (numbers_.use_count() > 1)
      numbers_ = std::make_shared<Buffer>(*numbers_);
    else  // synchronises with other threads, which may have made or dropped copies
      std::atomic_thread_fence(std::memory_order_acquire);
    return *numbers_;
  }

 private:
  std::shared_ptr<Buffer> numbers_;
};

}  // namespace bnpvi
