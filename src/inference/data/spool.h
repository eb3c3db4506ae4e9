// A file of batches in the engine's own layout, for data that do not fit into memory.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "foundation/fresh_file.h"
#include "foundation/mapped_file.h"
#include "inference/data/source.h"
#include "observations/obs_model.h"

namespace bnpvi {

struct BatchSize {
  Index rows = 0;
  Index groups = 0;   // 0 when rows are not grouped
  Index entries = 0;  // of sparse rows
};

/// What a spool holds and where. The arrays of a batch follow each other, from a multiple of 4096 bytes on:
/// dense data rows × d doubles, column-major, sparse ones `value` and, of 4 bytes each, `row_start` and
/// `column` (Dataset); then of 4 bytes each the number of every row among all, and, when rows are grouped,
/// the number of every group among all and where it starts (groups + 1); then what rows and groups have
/// beside: weights, classes, steps to parents, values of groups. The index follows as a Writer has it (with
/// its version and the order of bytes), the sums of the batches (sum_of_words()) among it; its length, its
/// own sum and a mark with the number of the format end the file.
struct SpoolIndex {
  DataShape shape;  // of all rows; n and n_groups are the sums over batches, unless some are in none
  std::vector<BatchSize> size;
  std::vector<std::uint64_t> sum;  // of the words of each batch
  Index group_width = 0;           // numbers that each group has beside its rows
  ClassSets class_sets;

  bool grouped() const { return !size.empty() && size.front().groups > 0; }
  std::vector<std::int64_t> offsets() const;  // of each batch, and the end of the last
};

/// Writes a spool. Rows come in the order of their numbers, and groups in that of theirs; a few rows of each
/// batch are kept in memory until they are worth a place on the disk. Without finish() there is no spool: the
/// file has another name until then, and goes with the writer.
class SpoolWriter {
 public:
  /// path: UTF-8. Throws FileError where the file cannot be written, as all that follow.
  SpoolWriter(std::string path, SpoolIndex index);
  ~SpoolWriter();
  SpoolWriter(const SpoolWriter&) = delete;
  SpoolWriter& operator=(const SpoolWriter&) = delete;

  /// The next rows, or groups with all their rows, and the batch of each, −1: none.
  void add(const Dataset& piece, const int* batch);
  /// Throws std::invalid_argument unless all batches have the rows, groups and entries that the index says.
  void finish();

 private:
  struct Pending;
  void add_row(Pending& to, const Dataset& piece, Index row);
  void flush(Index b);
  template <class T>
  void put(Index b, std::int64_t at, const T* values, Index n);  // at: of the batch

  const std::string path_;
  SpoolIndex index_;
  const std::vector<std::int64_t> offsets_;
  FreshFile file_;
  std::vector<Pending> pending_;  // of each batch
  Index most_pending_;            // numbers of a batch
  Index rows_ = 0, groups_ = 0;
};

/// A spool, opened. Throws FileError where it is not one, is not complete, or cannot be read. Every batch is
/// compared with its sum, and all that the engine counts or looks up by is checked, when it is first opened;
/// from then on size and time of the file tell whether it was changed.
class Spool {
 public:
  explicit Spool(const std::string& path);
  const SpoolIndex& index() const { return index_; }

  struct Held;
  /// Batch b; what it points to is in the file. Throws FileError where the file has changed or is damaged.
  std::shared_ptr<Held> open(Index b) const;
  void check() const { file_.check(); }

 private:
  void check_batch(Index b, const Held& held) const;

  const std::string path_;
  MappedFile file_;
  SpoolIndex index_;
  std::vector<std::int64_t> offsets_;
  mutable std::vector<std::atomic<bool>> checked_;  // of each batch
};

/// A batch of a spool.
struct Spool::Held {
  Dataset data;
  std::vector<Index> units, rows, groups;
  Batch batch{data, units, &rows, &groups};
};

/// Data in a spool.
class SpoolSource final : public Source {
 public:
  /// starts: Source::starts(). grouped: units are groups; else rows, in the order of sort_by_missing_cells()
  /// where there is an observation model. one_more: after the batches of the spool there is one without
  /// units. back, position: Source::back() and position(), which have to outlive this.
  SpoolSource(std::shared_ptr<const Spool> spool, std::vector<Index> starts, bool grouped,
              const ObsModel* obs, bool one_more, const int* back = nullptr, const int* position = nullptr);

  DataShape shape() const override { return spool_->index().shape; }
  const std::vector<Index>& starts() const override { return starts_; }
  const int* back() const override { return back_; }
  const int* position() const override { return position_; }
  Index n_batches() const override;
  std::shared_ptr<const Batch> open(Index b) const override;
  void check() const override { spool_->check(); }

 private:
  void require_lengths(const Spool::Held& held) const;

  const std::shared_ptr<const Spool> spool_;
  const std::vector<Index> starts_;
  const int *const back_, *const position_;
  const bool grouped_, one_more_;
  std::vector<std::vector<Index>>
      order_;  // of the rows of each batch, where they are not visited in their own
};

}  // namespace bnpvi
