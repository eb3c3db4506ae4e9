// A source of data: batches that are opened one at a time.
#pragma once
#include <memory>

#include "foundation/archive.h"
#include "foundation/data.h"

namespace bnpvi {

/// An open batch of data. Rows and groups are numbered within `data`, which may have more than the batch (all
/// data, if they are in memory). If units are rows, `data` also has earlier rows on which the likelihoods of
/// the batch's rows depend (Capabilities::lag). If units are groups, it has all their rows.
struct Batch {
  const Dataset& data;
  /// The rows of the batch, or its groups of rows, in the order in which they are visited.
  const std::vector<Index>& units;
  /// For each row of `data` (or group, if units are groups) its number among all rows (groups). Null: the
  /// numbers are the same.
  const std::vector<Index>* rows = nullptr;
  const std::vector<Index>* groups = nullptr;

  Index row_number(Index row) const { return rows ? (*rows)[row] : row; }
  Index group_number(Index group) const { return groups ? (*groups)[group] : group; }
};

/// The data of a fit in batches. There is no access to all rows at once: statistics are summed batch by
/// batch, and rows are copied only for samples of bounded size (take_rows, take_groups). A source does not
/// change.
class Source {
 public:
  virtual ~Source() = default;
  virtual DataShape shape() const = 0;
  /// Group g consists of rows starts()[g] .. starts()[g + 1] − 1, numbered among all rows.
  virtual const std::vector<Index>& starts() const = 0;
  /// For each row of the data the distance to its parent, as in Dataset::back; null: the parent is the row
  /// before.
  virtual const int* back() const = 0;
  /// For each row of the data its position among its parent's children, or its covariate pattern, as in
  /// Dataset::position; null: all 0.
  virtual const int* position() const = 0;
  virtual Index n_batches() const = 0;
  /// Opens batch b, which stays valid as long as the caller holds the result.
  virtual std::shared_ptr<const Batch> open(Index b) const = 0;
  /// Throws FileError if the underlying file has changed, so that data read earlier may be wrong. open()
  /// throws this error for data that it reads.
  virtual void check() const {}
};

/// A source of data that are in memory as one view, which the caller owns. Opening a batch costs nothing.
class MemorySource final : public Source {
 public:
  /// units: the units (rows or groups of rows) of each batch; groups must be ascending.
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

/// The location of a row or a group of rows: its batch, and its number in the data of that batch.
struct Place {
  Index batch, at;
};

/// The rows of a batch that have a likelihood of their own (all but the first `lag` of each group), in the
/// order in which the batch has its units. grouped: units are groups, not rows.
std::vector<Index> modelled_rows(const Batch& batch, bool grouped, Index lag);

/// The places (batch and number in it) of all rows with a likelihood, in the order of their numbers in the
/// data; places_of_groups(): of all groups. grouped: units are groups of rows. lag: number of first rows of
/// each group that have no likelihood.
std::vector<Place> places_of_rows(const Source& source, bool grouped, Index lag);
std::vector<Place> places_of_groups(const Source& source);

/// The sum of the weights of the units of a batch (below: of all units), or the number of units if they have
/// no weights. grouped: units are groups, not rows.
double weight_of_units(const Batch& batch, bool grouped);
double weight_of_units(const Source& source, bool grouped);

/// The weights of the rows at these places (batch and number in it); each batch is opened once. Empty if rows
/// have no weights.
Vec weights_of_rows(const Source& source, const std::vector<Place>& rows);

/// A copy of some rows of a source, as a data set of its own.
struct Sample {
  Dataset data;             // points into the vectors below
  std::vector<Index> rows;  // the requested rows, in the requested order, as rows of `data`
  Vec dense, value, weight;
  std::vector<int> row_start, column, classes, back, position;

  Sample() = default;
  Sample(Sample&&) = default;
  Sample& operator=(Sample&&) = default;
  Sample(const Sample&) = delete;

  /// Writes the rows and their groups, on which features depend, but not weights, classes or parents.
  void write(Writer& out) const;
  static Sample read(Reader& in);
};

/// Copies some rows. Each goes into a group of its own, together with the `lag` rows before it, on which its
/// likelihood depends. Each batch is opened once.
Sample take_rows(const Source& source, const std::vector<Place>& places, Index lag);

/// Copies the groups of rows at these places (batch and number in it), with all their rows, in the given
/// order.
Sample take_groups(const Source& source, const std::vector<Place>& places);

}  // namespace bnpvi
