// Change of the units of regressors in models of responses, with or without an intercept.
#pragma once
#include "foundation/types.h"

namespace bnpvi {

/// Replaces the matrix v (E × E) by H v Hᵀ, where H turns regressors x into z = shift + scale x: (1, z) = H
/// (1, x). v may be the second moments of (1, x), or the precision of their coefficients; it becomes that of
/// (1, z). first: 1 with an intercept. 0 without; then there is no shift.
template <class Shift, class Scale>
void change_regressors(Vec& v, Index e, Index first, Shift shift, Scale scale) {
  for (int side = 0; side < 2; ++side)
    for (Index j = first; j < e; ++j)
      for (Index i = 0; i < e; ++i) {
        double& value = side == 0 ? v[j * e + i] : v[i * e + j];
        value *= scale(j - first);
        if (first == 1) value += shift(j - 1) * (side == 0 ? v[i] : v[i * e]);
      }
}

}  // namespace bnpvi
