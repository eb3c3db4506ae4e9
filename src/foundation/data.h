// The data as the engine sees them: a view, never a copy.
#pragma once
#include <vector>

#include "foundation/class_sets.h"
#include "foundation/types.h"

namespace bnpvi {

/// If clusters of rows depend on each other, the cluster of a row depends on that of one earlier row, its
/// parent. This is the distance, in rows, from `row` back to its parent; 0 if it has none. back: the
/// distances of all rows if parents may be any rows (Dataset::back); null: the parent is the row before.
/// first: the first row of the row's group that has a likelihood.
inline Index steps_to_parent(const int* back, Index row, Index first) {
  return back ? back[row] : row > first;
}

/// The position of a row among its parent's children, or its covariate pattern (Dataset::position). 0 if the
/// data have no positions.
inline Index position_of(const int* position, Index row) { return position ? position[row] : 0; }

/// Size and kind of a data set, without its rows.
struct DataShape {
  Index n = 0;         // number of rows
  Index d = 0;         // number of columns
  Index n_groups = 0;  // number of groups; 1 if rows are not grouped
  bool sparse = false;
  bool rows_are_groups = false;  // each group has one row
  bool weighted = false;         // rows have weights (Dataset::weight)
  bool labelled = false;         // rows have known labels (Dataset::classes)
  bool trees = false;            // rows have parents (Dataset::back)
  bool positions = false;        // rows have positions or covariate patterns (Dataset::position)
};

/// A view of n observations (rows) in d columns, either dense or sparse, owned by the caller.
///
/// Rows may be grouped: group g holds rows starts[g] .. starts[g+1]-1, in an order that may matter. Without
/// groups, `starts` is {0, n}.
///
/// A row of weight w counts as w rows that share one assignment to clusters. The statistics of clusters are T
/// = Σ w r φ(x) and the entropy is H(z) = −Σ w Σ_k r log r, with responsibilities r, which do not depend on
/// w, and features φ(x). If w is a whole number, the objective is that of the data in which the row is
/// repeated w times. A row of weight 0 belongs to no batch.
struct Dataset {
  Index n = 0;
  Index d = 0;
  const double* dense = nullptr;   // n × d, column-major, when dense
  const int* row_start = nullptr;  // n + 1 offsets into column/value, when sparse
  const int* column = nullptr;     // 0-based column of each stored entry
  const double* value = nullptr;   // value of each stored entry
  std::vector<Index> starts;
  bool rows_are_groups = false;  // each group of the whole data set has one row, even if this is a batch
  /// Weight of each row, n numbers ≥ 0; null: all 1. If units are groups, the rows of a group have equal
  /// weights.
  const double* weight = nullptr;

  /// For each row the number, in class_sets, of the set of classes to which it may belong. 0: the row may
  /// belong to any cluster. Null: all rows may.
  const int* classes = nullptr;
  const ClassSets* class_sets = nullptr;

  /// For each row the distance to its parent, in rows (steps_to_parent()). 0: it has no parent. Null: the
  /// parent is the row before. The rows of a subtree are consecutive, with its root first, so parents come
  /// before their children.
  const int* back = nullptr;
  /// A number for each row, from 0, that selects how the row's cluster depends on that of its parent. In
  /// trees it is the position of the row among the children of its parent. In models whose transition weights
  /// depend on covariates, it is the row's covariate pattern: the number of its distinct row of covariates.
  /// Null: all 0.
  const int* position = nullptr;

  /// Further numbers for each group that an allocation model may use, such as a response of the group:
  /// n_groups × group_width, row-major; null: none.
  const double* group_value = nullptr;
  Index group_width = 0;

  double weight_of(Index row) const { return weight ? weight[row] : 1; }
  /// The weight of the rows of group g if units are groups; 1 for a group without rows.
  double weight_of_group(Index g) const { return starts[g] < starts[g + 1] ? weight_of(starts[g]) : 1; }

  const double* value_of_group(Index g) const {
    return group_value ? group_value + g * group_width : nullptr;
  }

  bool sparse() const { return dense == nullptr; }
  Index n_groups() const { return static_cast<Index>(starts.size()) - 1; }
  operator DataShape() const {
    return {n,
            d,
            n_groups(),
            sparse(),
            rows_are_groups,
            weight != nullptr,
            classes != nullptr,
            back != nullptr,
            position != nullptr};
  }
};

/// The rows that have a likelihood of their own: all but the first `lag` rows of each group. lag: on how many
/// earlier rows the likelihood of a row depends (0 except in autoregressions). starts: the first row of each
/// group, then the number of rows.
std::vector<Index> modelled_rows(const std::vector<Index>& starts, Index lag);

/// Deals units 0 .. n_units − 1 at random into n_batches batches of equal size (±1). The units of a batch are
/// ascending, and a single batch has them in their natural order.
std::vector<std::vector<Index>> deal_batches(Index n_units, Index n_batches, unsigned long long seed);

}  // namespace bnpvi
