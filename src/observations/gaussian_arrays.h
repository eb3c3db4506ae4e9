// What Gaussian models show of their clusters, in the units of the user's data.
#pragma once
#include <limits>

#include "foundation/named_array.h"
#include "observations/gather.h"

namespace bnpvi {

/// Means, K × D; mean_of(k): that of cluster k in engine units.
template <class F>
NamedArray mean_array(const Columns& columns, Index k, F mean_of) {
  NamedArray out{"mean", Vec(static_cast<std::size_t>(k * columns.size())), {k, columns.size()}};
  for (Index i = 0; i < k; ++i) {
    const Vec mean = mean_of(i);
    for (Index j = 0; j < columns.size(); ++j)
      out.value[i + k * j] = columns.centre[j] + columns.unit[j] * mean[j];
  }
  return out;
}

/// Diagonal covariances, D × D × K: E[σ²] = scale_of(k, j)/(df_of(k) − 2) of an inverse Gamma distribution,
/// infinite where it does not exist.
template <class Scale, class Df>
NamedArray diagonal_covariances(Index d, Index k, Scale scale_of, Df df_of) {
  NamedArray out{"cov", Vec(static_cast<std::size_t>(d * d * k), 0.0), {d, d, k}};
  for (Index i = 0; i < k; ++i) {
    const double divisor = df_of(i) - 2;
    for (Index j = 0; j < d; ++j)
      out.value[(i * d + j) * d + j] =
          divisor > 0 ? scale_of(i, j) / divisor : std::numeric_limits<double>::infinity();
  }
  return out;
}

}  // namespace bnpvi
