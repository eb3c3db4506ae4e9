// The parameters of Dirichlet posteriors of proportions, as arrays.
#pragma once
#include "foundation/named_array.h"
#include "foundation/types.h"

namespace bnpvi {

/// The parameters (weight + counts) of the Dirichlet posteriors of K clusters, K × D. weight: the parameters
/// of the prior, D numbers. t: the statistics (T_0, counts) of each cluster.
NamedArray dirichlet_array(const Vec& weight, const double* t, Index k);

}  // namespace bnpvi
