// The data as the engine sees them: a view, never a copy.
#pragma once
#include <vector>

#include "foundation/class_sets.h"
#include "foundation/types.h"

namespace bnpvi {

/// Rows from a row back to its parent, the row whose cluster its own depends on where clusters do; 0: it has
/// none. `back`: those of all rows, in trees (Dataset::back); null where the parent is the row before. first:
/// the first modelled row of its group.
inline Index steps_to_parent(const int* back, Index row, Index first) {
  return back ? back[row] : row > first;
}

/// Dataset::position of a row, 0 where there are none.
inline Index position_of(const int* position, Index row) { return position ? position[row] : 0; }

/// Size and kind of a data set, without its rows.
struct DataShape {
  Index n = 0;         // rows
  Index d = 0;         // columns
  Index n_groups = 0;  // 1 when rows are not grouped
  bool sparse = false;
  bool rows_are_groups = false;  // each group has one row
  bool weighted = false;         // rows have weights of their own
  bool labelled = false;         // rows may belong to some classes only
  bool trees = false;            // rows have parents of their own
  bool positions = false;        // rows have positions among their siblings, or covariate patterns
};

/// A view of n observations (rows) in d columns, either dense or sparse, owned by the caller.
///
/// Rows may be grouped: group g holds rows starts[g] .. starts[g+1]-1, in an order that may matter.
/// Without groups, `starts` is {0, n}.
///
/// A row of weight w counts as w rows that share one assignment: T = Σ w r φ and H(z) = −Σ w Σ_k r log r,
/// while its responsibilities r do not depend on w. For whole w the objective is that of the data in which
/// the row is written w times. A row of weight 0 belongs to no batch.
struct Dataset {
  Index n = 0;
  Index d = 0;
  const double* dense = nullptr;   // n × d, column-major, when dense
  const int* row_start = nullptr;  // n + 1 offsets into column/value, when sparse
  const int* column = nullptr;     // 0-based column of each stored entry
  const double* value = nullptr;   // each stored entry
  std::vector<Index> starts;
  bool rows_are_groups = false;    // in the whole data set, of which this may be a batch
  const double* weight = nullptr;  // of each row, n numbers ≥ 0; the rows of a group that is a unit have one
                                   // weight; null: all 1

  const int* classes = nullptr;  // of each row: the set of classes to which it may belong; null: all 0
  const ClassSets* class_sets = nullptr;  // of which `classes` has the numbers

  /// steps_to_parent() of each row; the rows of a subtree follow each other, its root first, so that parents
  /// come before their children; null: the row before is the parent.
  const int* back = nullptr;
  /// Of trees: the position of each row among the children of its parent, by which the transition into it may
  /// differ. Of mixtures with covariates: the row's covariate pattern. From 0; null: all 0.
  const int* position = nullptr;

  /// Numbers that an allocation model wants of each group: n_groups × group_width, row-major; null: none.
  const double* group_value = nullptr;
  Index group_width = 0;

  double weight_of(Index row) const { return weight ? weight[row] : 1; }
  /// Of a unit that is a group; 1 where it has no rows.
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

/// Rows that have a likelihood of their own: all but the first `lag` of each group.
std::vector<Index> modelled_rows(const std::vector<Index>& starts, Index lag);

/// Deals units 0 .. n_units-1 at random into n_batches batches of equal size (±1), each ascending.
/// One batch keeps the natural order.
std::vector<std::vector<Index>> deal_batches(Index n_units, Index n_batches, unsigned long long seed);

}  // namespace bnpvi
