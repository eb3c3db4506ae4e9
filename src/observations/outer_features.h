// Features that are products of a row's coordinates.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// In n rows of features, which have vvᵀ packed from `offset` on and φ_0 in front: averages the squares of m
/// coordinates over the cells of rounded values. cell: by coordinate, what that adds where φ_0 = 1 (Columns);
/// empty: nothing.
void add_cells(const Vec& cell, Index n, double* phi, Index ld, Index offset);

/// v of one such row as it is, but for its sign, from what is most exact: the products with the coordinate
/// that is largest.
void row_of_features(const double* phi, Index offset, Index m, const Vec& cell, double* v);

}  // namespace bnpvi
