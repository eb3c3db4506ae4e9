// For tests: a source of data whose batches are destroyed as soon as no code holds them. A fit that has the
// same result with this source as with data in memory can also read its data batch by batch.
#pragma once
#include <mutex>

#include "inference/data/source.h"

namespace bnpvi::testing {

/// A source of data that copies a batch when it is opened, with row numbers of its own. When the last holder
/// releases the copy, its numbers are overwritten (NaN, −1) and freed, so that code that still reads them
/// gives wrong results or triggers an address sanitizer.
///
/// A batch of groups contains exactly the rows of these groups. A batch of rows contains each row and the
/// `lag` rows before it. Rows of one group form one group of the copy, even if rows between them are left
/// out.
class TransientSource final : public Source {
 public:
  /// units: for each batch the numbers of its units, ascending. Units are groups if `grouped`, else rows,
  /// which must not be among the first `lag` rows of their group. data: must outlive this object.
  TransientSource(const Dataset& data, std::vector<std::vector<Index>> units, bool grouped, Index lag);

  DataShape shape() const override { return data_; }
  const std::vector<Index>& starts() const override { return data_.starts; }
  const int* back() const override { return data_.back; }
  const int* position() const override { return data_.position; }
  Index n_batches() const override { return static_cast<Index>(units_.size()); }
  std::shared_ptr<const Batch> open(Index b) const override;  // thread-safe

  /// Largest number of batches that were held at the same time.
  Index most_open() const { return most_open_; }

 private:
  struct Copy;
  void count(Index b, Index holders) const;  // adds to the holders of batch b

  const Dataset& data_;
  const std::vector<std::vector<Index>> units_;
  const bool grouped_;
  const Index lag_;
  mutable std::mutex mutex_;
  mutable std::vector<Index> holders_;  // number of holders of each batch
  mutable Index most_open_ = 0;
};

}  // namespace bnpvi::testing
