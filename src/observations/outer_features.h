// Features that are products of two coordinates of a row.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Adds to the squares of m coordinates, in n rows of features, what averaging over the cells of rounded
/// values adds (a cell is the interval of values that are rounded to the same number). Each row of features
/// has φ_0 first, and the products vvᵀ of coordinates v packed from `offset` on. cell: what is added to each
/// square where φ_0 = 1 (Columns); empty: nothing.
void add_cells(const Vec& cell, Index n, double* phi, Index ld, Index offset);

/// Recovers the m coordinates v of a row from features as in add_cells(), without the average over cells and
/// up to the sign of v. Uses the products with the largest coordinate, which are the most exact.
void row_of_features(const double* phi, Index offset, Index m, const Vec& cell, double* v);

}  // namespace bnpvi
