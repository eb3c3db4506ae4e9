// Transformed values of some rows, as a data set of their own.
#pragma once
#include <numeric>
#include <stdexcept>

#include "foundation/data.h"

namespace bnpvi {

/// A data set `view` of n rows. Its cells are change(x) for the cells x of n chosen rows of dense data. Its
/// rows are numbered 0 .. n − 1, and `number` has these numbers.
struct RowValues {
  template <class Change>
  RowValues(const Dataset& data, const Index* rows, Index n, Change change)
      : number(static_cast<std::size_t>(n)) {
    if (data.sparse()) throw std::invalid_argument("this observation model needs dense data");
    value.reserve(static_cast<std::size_t>(n * data.d));
    for (Index j = 0; j < data.d; ++j)
      for (Index i = 0; i < n; ++i) value.push_back(change(data.dense[j * data.n + rows[i]]));
    std::iota(number.begin(), number.end(), Index{0});
    view.n = n;
    view.d = data.d;
    view.dense = value.data();
    view.starts = {0, n};
  }
  RowValues(const RowValues&) = delete;  // `view` points into this object
  RowValues& operator=(const RowValues&) = delete;

  Vec value;
  std::vector<Index> number;
  Dataset view;
};

}  // namespace bnpvi
