// Copies rows of column-major data into row-major scratch, from which features are computed.
#pragma once
#include "foundation/data.h"

namespace bnpvi {

/// A change of units of columns: x̃ = (x − centre) / unit.
///
/// rounding: the spacing Δ of the values of each column; 0 for a column that is not rounded; empty if no
/// column is. A rounded value x stands for a true value between x − Δ/2 and x + Δ/2. By Jensen's inequality,
/// log(P(this interval)/Δ) is at least the average of log p over the interval. This average is computed from
/// averaged features: x̃² becomes x̃² + (Δ / unit)²/12.
struct Columns {
  Columns(const Vec& centre, const Vec& unit, const Vec& rounding = {});

  Vec centre, unit;
  Vec cell;  // (Δ / unit)² / 12; empty where no column is rounded
  double log_jacobian = 0;

  Index size() const { return static_cast<Index>(unit.size()); }
};

/// The change from one unit of columns to another: for each column, x̃ under `to` is scale · x̃ under `from`
/// + shift.
struct ColumnChange {
  ColumnChange(const Columns& from, const Columns& to);

  Vec scale, shift;
};

/// Writes columns of dense data in engine units: out[i · ld + j] = x̃_j (Columns), where x is the row with
/// number rows[i] − shift.
void gather(const Dataset& data, const Columns& columns, const Index* rows, Index n, Index shift, double* out,
            Index ld);

/// Divides the n numbers of v by a common ρ ≥ 1, the smallest for which none is above 1e130 in absolute
/// value. So squares and their weights stay finite. Returns 1/ρ, which is 1 if v needed no change.
double bring_near(Index n, double* v);

/// Writes the features of linear models, (1, x), into row i of `out`, where x is row rows[i] of dense or
/// sparse data.
void gather_linear(const Dataset& data, const Index* rows, Index n, double* out, Index ld);

}  // namespace bnpvi
