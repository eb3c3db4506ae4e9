// A spool: a file of batches in the engine's own layout, for data that do not fit into memory.
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
  Index groups = 0;   // number of groups; 0 if rows are not grouped
  Index entries = 0;  // number of stored entries, if rows are sparse
};

/// The index of a spool (a file of batches): what the file holds, and where.
///
/// The arrays of each batch follow one another, starting at a multiple of 4096 bytes:
///   - dense data: rows × d doubles, column-major; sparse data: `value` (doubles), `row_start` and `column`
///     (4 bytes each; see Dataset);
///   - 4 bytes each: the number of every row among all rows and, when rows are grouped, the number of every
///     group among all groups and where each group starts (groups + 1 numbers);
///   - where rows or groups have them: weights, classes, steps to parents, positions, values of groups.
/// After the batches comes the index as written by a Writer (with its version and byte order), including the
/// checksums of the batches (sum_of_words()). The file ends with the length of the index, its checksum and a
/// mark with the number of the format.
struct SpoolIndex {
  DataShape shape;  // shape of the whole data; n and n_groups count also rows and groups that are in no batch
  std::vector<BatchSize> size;
  std::vector<std::uint64_t> sum;  // checksum of each batch
  Index group_width = 0;           // how many further numbers each group of rows has (Dataset::group_width)
  ClassSets class_sets;

  bool grouped() const { return !size.empty() && size.front().groups > 0; }
  std::vector<std::int64_t> offsets() const;  // where each batch begins in the file, and the end of the last
};

/// Writes a spool, a file of batches. Rows must be added in the order of their numbers, and groups likewise.
/// Rows of each batch are buffered in memory until they are enough for a write to the disk. The file is
/// written under a temporary name; the destructor deletes it unless finish() was called.
class SpoolWriter {
 public:
  /// path: name of the file, UTF-8. All functions throw FileError if the file cannot be written.
  SpoolWriter(std::string path, SpoolIndex index);
  ~SpoolWriter();
  SpoolWriter(const SpoolWriter&) = delete;
  SpoolWriter& operator=(const SpoolWriter&) = delete;

  /// Adds the next rows, or groups with all their rows, which are those of `piece`. batch: for each row (or
  /// group) the number of its batch; −1: it is in no batch.
  void add(const Dataset& piece, const int* batch);
  /// Completes the spool (file of batches). Throws std::invalid_argument unless all batches have as many
  /// rows, groups and entries as the index says.
  void finish();

 private:
  struct Pending;
  void add_row(Pending& to, const Dataset& piece, Index row);
  void flush(Index b);
  template <class T>
  // writes n values to batch b; at: where in the batch, in bytes
  void put(Index b, std::int64_t at, const T* values, Index n);

  const std::string path_;
  SpoolIndex index_;
  const std::vector<std::int64_t> offsets_;
  FreshFile file_;
  std::vector<Pending> pending_;  // for each batch, rows that are not written to the disk yet
  Index most_pending_;            // size of the buffer of a batch, in numbers
  Index rows_ = 0, groups_ = 0;
};

/// A spool (file of batches) that is open for reading. Throws FileError if the file is not a spool, is
/// incomplete, or cannot be read. When a batch is first opened, it is compared with its checksum, and all
/// values by which the engine counts or indexes are checked; after that, size and modification time of the
/// file show whether it was changed.
class Spool {
 public:
  explicit Spool(const std::string& path);
  const SpoolIndex& index() const { return index_; }

  struct Held;
  /// Opens batch b, whose data point into the mapped file. Throws FileError if the file has changed or is
  /// damaged.
  std::shared_ptr<Held> open(Index b) const;
  void check() const { file_.check(); }

 private:
  void check_batch(Index b, const Held& held) const;

  const std::string path_;
  MappedFile file_;
  SpoolIndex index_;
  std::vector<std::int64_t> offsets_;
  mutable std::vector<std::atomic<bool>> checked_;  // for each batch: whether it was checked
};

/// An open batch of a spool (file of batches), with the vectors to which its `batch` refers.
struct Spool::Held {
  Dataset data;
  std::vector<Index> units, rows, groups;
  Batch batch{data, units, &rows, &groups};
};

/// A source that reads its batches from a spool (a file of batches in the engine's layout).
class SpoolSource final : public Source {
 public:
  /// starts, back, position: what the functions of Source with these names return; back and position must
  /// outlive this object. grouped: units are groups of rows; otherwise units are rows, visited in the order
  /// of sort_by_missing_cells() if there is an observation model. one_more: whether to add a batch without
  /// units after the batches of the spool.
  SpoolSource(std::shared_ptr<const Spool> spool, std::vector<Index> starts, bool grouped,
              const ObsModel* obs, bool one_more, const int* back = nullptr, const int* position = nullptr);

  DataShape shape() const override { return spool_->index().shape; }
  const std::vector<Index>& starts() const override { return starts_; }
  const int* back() const override { return back_; }
  const int* position() const override { return position_; }
  Index n_batches() const override;
  std::shared_ptr<const Batch> open(Index b) const override;
  void check() const override { spool_->check(); }
  /// Opens all batches and holds them from now on, 16 bytes a row, so that opening one again costs nothing.
  void hold();

 private:
  void require_lengths(const Spool::Held& held) const;

  const std::shared_ptr<const Spool> spool_;
  const std::vector<Index> starts_;
  const int *const back_, *const position_;
  const bool grouped_, one_more_;
  /// For each batch the order in which its rows are visited; empty: in the order of the data.
  std::vector<std::vector<Index>> order_;
  std::vector<std::shared_ptr<const Batch>> held_;  // all batches after hold(), else none
};

}  // namespace bnpvi
