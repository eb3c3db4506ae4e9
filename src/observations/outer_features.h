// Features that are products of two coordinates of a row.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Adds to the squares of m coordinates what averaging over rounded values adds (over the interval of values
/// that are rounded to the same number). phi: n rows of features; each has φ_0 first and, from `offset` on,
/// the packed products vvᵀ of the coordinates v. cell: what is added to each square where φ_0 = 1 (Columns);
/// empty: nothing.
void add_cells(const Vec& cell, Index n, double* phi, Index ld, Index offset);

/// Recovers the m coordinates v of a row from features as in add_cells(), up to the sign of v. What
/// add_cells() added is left out. Uses the products with the largest coordinate, which are the most exact.
void row_of_features(const double* phi, Index offset, Index m, const Vec& cell, double* v);

}  // namespace bnpvi
