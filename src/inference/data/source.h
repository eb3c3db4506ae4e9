// The source of the data: batches that are opened one at a time.
#pragma once
#include <memory>

#include "foundation/archive.h"
#include "foundation/data.h"

namespace bnpvi {

/// An open batch. Rows and groups are numbered within `data`, which may hold more than the batch (all data,
/// when they are in memory). A unit that is a row is preceded by the rows that its likelihood needs
/// (Capabilities::lag); a unit that is a group has all its rows.
struct Batch {
  const Dataset& data;
  const std::vector<Index>& units;           // rows, or groups of rows, of the batch, in the order of visits
  const std::vector<Index>* rows = nullptr;  // number of each row of `data` among all rows; null: the same
  const std::vector<Index>* groups =
      nullptr;  // number of each group of `data` among all groups; null: the same

  Index row_number(Index row) const { return rows ? (*rows)[row] : row; }
  Index group_number(Index group) const { return groups ? (*groups)[group] : group; }
};

/// The data of a fit in batches. There is no access to all rows at once: what several batches contribute is
/// summed batch by batch, or copied for a sample of bounded size (take_rows, take_groups). Immutable.
class Source {
 public:
  virtual ~Source() = default;
  virtual DataShape shape() const = 0;
  /// Group g has the rows starts()[g] .. starts()[g + 1] − 1 among all rows.
  virtual const std::vector<Index>& starts() const = 0;
  /// Dataset::back of all rows.
  virtual const int* back() const = 0;
  /// Dataset::position of all rows.
  virtual const int* position() const = 0;
  virtual Index n_batches() const = 0;
  /// Batch b, which stays valid for as long as the result is held.
  virtual std::shared_ptr<const Batch> open(Index b) const = 0;
  /// Throws FileError where what has been read may not have been the data, as open() does for what will be.
  virtual void check() const {}
};

/// Data that are in memory as one view, which the caller owns. Opening a batch costs nothing.
class MemorySource final : public Source {
 public:
  /// units: of each batch; groups are ascending.
  MemorySource(const Dataset& data, std::vector<std::vector<Index>> units);

  DataShape shape() const override;
  const std::vector<Index>& starts() const override { return data_.starts; }
  const int* back() const override { return data_.back; }
  const int* position() const override { return data_.position; }
  Index n_batches() const override { return static_cast<Index>(batches_.size()); }
  std::shared_ptr<const Batch> open(Index b) const override { return batches_[b]; }

 private:
  const Dataset& data_;
  const std::vector<std::vector<Index>> units_;
  std::vector<std::shared_ptr<const Batch>> batches_;
};

/// A row or a group by its batch and its number in the data of that batch.
struct Place {
  Index batch, at;
};

/// Rows of a batch with a likelihood of their own (all but the first `lag` of each group), in the order of
/// its units. grouped: units are groups, not rows.
std::vector<Index> modelled_rows(const Batch& batch, bool grouped, Index lag);

/// Places of all such rows, and of all groups, by their numbers among all.
std::vector<Place> places_of_rows(const Source& source, bool grouped, Index lag);
std::vector<Place> places_of_groups(const Source& source);

/// Σ of the weights of a batch's units, and of all units; their numbers where none has a weight of its own.
/// grouped: units are groups, not rows.
double weight_of_units(const Batch& batch, bool grouped);
double weight_of_units(const Source& source, bool grouped);

/// Weights of some rows, each batch being opened once; empty where none has a weight of its own.
Vec weights_of_rows(const Source& source, const std::vector<Place>& rows);

/// A copy of some rows, in data of their own.
struct Sample {
  Dataset data;             // points into the vectors below
  std::vector<Index> rows;  // the rows that were asked for, in that order
  Vec dense, value, weight;
  std::vector<int> row_start, column, classes, back, position;

  Sample() = default;
  Sample(Sample&&) = default;
  Sample& operator=(Sample&&) = default;
  Sample(const Sample&) = delete;

  /// What features depend on: the rows and their groups, but neither weights nor classes, nor parents.
  void write(Writer& out) const;
  static Sample read(Reader& in);
};

/// Some rows, each in a group of its own with the `lag` rows before it. Each batch is opened once.
Sample take_rows(const Source& source, const std::vector<Place>& places, Index lag);

/// Some groups with all their rows, in the order given.
Sample take_groups(const Source& source, const std::vector<Place>& places);

}  // namespace bnpvi
