// Posteriors of proportions as arrays.
#pragma once
#include "foundation/named_array.h"
#include "foundation/types.h"

namespace bnpvi {

/// Parameters weight + counts of the posteriors of K clusters whose statistics T are (T_0, counts), K × D.
NamedArray dirichlet_array(const Vec& weight, const double* t, Index k);

}  // namespace bnpvi
