// A source whose batches are destroyed as soon as they are not held any more. A fit that has the same result
// with it as with data in memory can be given data that are read batch by batch.
#pragma once
#include <mutex>

#include "inference/data/source.h"

namespace bnpvi::testing {

/// Copies a batch whenever it is opened, under numbers of its own, and destroys the copy when the last holder
/// lets go: its numbers are overwritten (NaN, −1) and freed, so that code which still reads them shows,
/// by wrong results or by an address sanitizer.
///
/// A batch of groups has their rows and nothing else. A batch of rows has each row and the `lag` rows before
/// it; those of one group are one group of the copy, also where rows between them are left out.
class TransientSource final : public Source {
 public:
  /// units: those of each batch, ascending: groups if `grouped`, else rows, none of them among the first
  /// `lag` of its group. The caller owns the data.
  TransientSource(const Dataset& data, std::vector<std::vector<Index>> units, bool grouped, Index lag);

  DataShape shape() const override { return data_; }
  const std::vector<Index>& starts() const override { return data_.starts; }
  const int* back() const override { return data_.back; }
  const int* position() const override { return data_.position; }
  Index n_batches() const override { return static_cast<Index>(units_.size()); }
  std::shared_ptr<const Batch> open(Index b) const override;  // by several threads at once, too

  /// Most different batches that were held at one time.
  Index most_open() const { return most_open_; }

 private:
  struct Copy;
  void count(Index b, Index holders) const;  // changes those of batch b

  const Dataset& data_;
  const std::vector<std::vector<Index>> units_;
  const bool grouped_;
  const Index lag_;
  mutable std::mutex mutex_;
  mutable std::vector<Index> holders_;  // of each batch
  mutable Index most_open_ = 0;
};

}  // namespace bnpvi::testing
