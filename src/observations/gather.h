// Copies rows of column-major data to row-major scratch, for the features of a block.
#pragma once
#include "foundation/data.h"

namespace bnpvi {

/// Affine change of columns, x̃ = (x − centre) / unit, and the logarithm of its Jacobian −Σ log unit.
struct Columns {
  Columns(const Vec& centre, const Vec& unit);

  Vec centre, unit;
  double log_jacobian = 0;

  Index size() const { return static_cast<Index>(unit.size()); }
};

/// x̃ under `to` is scale · x̃ under `from` + shift, column by column.
struct ColumnChange {
  ColumnChange(const Columns& from, const Columns& to);

  Vec scale, shift;
};

/// out[i · ld + j] = x̃_j of row rows[i] − shift, dense data only.
void gather(const Dataset& data, const Columns& columns, const Index* rows, Index n, Index shift, double* out,
            Index ld);

/// Divides the n numbers of v by ρ ≥ 1, as small as leaves none beyond 1e130: squares and their weights then
/// stay finite. Returns 1/ρ; v stays as it is, and this is 1, unless a number is beyond.
double bring_near(Index n, double* v);

/// Row i of out = (1, x) with x row rows[i] of dense or sparse data: the features of linear models.
void gather_linear(const Dataset& data, const Index* rows, Index n, double* out, Index ld);

}  // namespace bnpvi
