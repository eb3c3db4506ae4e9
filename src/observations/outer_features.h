// Features that are products of the coordinates of a row.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Adds, in n rows of features, the average over the cells of rounded values to the squares of m
/// coordinates. Each row of features has vvᵀ packed from `offset` on, with φ_0 first. cell: for each
/// coordinate, what the average adds where φ_0 = 1 (Columns); empty: nothing.
void add_cells(const Vec& cell, Index n, double* phi, Index ld, Index offset);

/// Recovers v of one row whose features are as in add_cells(), without the average over cells and up to its
/// sign. Uses the products with the largest coordinate, which are the most exact.
void row_of_features(const double* phi, Index offset, Index m, const Vec& cell, double* v);

}  // namespace bnpvi
