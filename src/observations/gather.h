// Copies rows of column-major data into row-major scratch, from which features are computed.
#pragma once
#include "foundation/data.h"

namespace bnpvi {

/// A change of units of columns, x̃ = (x − centre) / unit, and the logarithm of its Jacobian, −Σ log unit.
///
/// rounding: the spacing Δ of the values of each column, 0 for a column that is not rounded; empty: none is.
/// A rounded value x stands for a true value in the cell [x − Δ/2, x + Δ/2]. By Jensen's inequality
/// log(P(cell)/Δ) is at least the average of log p over the cell, which is computed by averaging features:
/// x̃² becomes x̃² + cell.
struct Columns {
  Columns(const Vec& centre, const Vec& unit, const Vec& rounding = {});

  Vec centre, unit;
  Vec cell;  // (Δ / unit)² / 12; empty where no column is rounded
  double log_jacobian = 0;

  Index size() const { return static_cast<Index>(unit.size()); }
};

/// The change between two units of columns: x̃ under `to` is scale · x̃ under `from` + shift, column by
/// column.
struct ColumnChange {
  ColumnChange(const Columns& from, const Columns& to);

  Vec scale, shift;
};

/// Writes columns of dense data in engine units: out[i · ld + j] = x̃_j (Columns), where x is the row with
/// number rows[i] − shift.
void gather(const Dataset& data, const Columns& columns, const Index* rows, Index n, Index shift, double* out,
            Index ld);

/// Divides the n numbers of v by the smallest number ρ ≥ 1 after which none is above 1e130 in absolute value,
/// so that squares and their weights stay finite. Returns 1/ρ, which is 1 if v needed no change.
double bring_near(Index n, double* v);

/// Writes the features of linear models, (1, x), into row i of `out`, where x is row rows[i] of dense or
/// sparse data.
void gather_linear(const Dataset& data, const Index* rows, Index n, double* out, Index ld);

}  // namespace bnpvi
