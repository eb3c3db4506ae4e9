// Products of a triangular matrix with its own transpose.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Adds RᵀR to the lower triangle of `out` (d × d, row-major). R is a lower triangular d × d matrix whose
/// rows are `ld` numbers apart.
void add_inner_gram(const double* r, Index ld, Index d, double* out);

/// Adds LLᵀ to the lower triangle of `out` (d × d, row-major), for a lower triangular d × d matrix L
/// (row-major).
void add_outer_gram(const double* l, Index d, double* out);

}  // namespace bnpvi
