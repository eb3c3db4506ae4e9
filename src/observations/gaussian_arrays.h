// Arrays that Gaussian models report of their clusters, in the units of the user's data.
#pragma once
#include <limits>

#include "foundation/named_array.h"
#include "observations/column_gaps.h"
#include "observations/gather.h"

namespace bnpvi {

/// Means of clusters in the user's units, K × D; mean_of(k) gives the mean of cluster k in engine units.
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

/// An array of values of(k, j), for cluster k and column j, that depend on a count of rows. It has K numbers
/// or, if cells may be missing and each column therefore has a count of its own, K × D.
template <class F>
NamedArray counted_array(const char* name, const ColumnGaps& gaps, Index k, Index d, F of) {
  NamedArray out{name, {}, {}};
  const Index columns = gaps ? d : 1;
  if (gaps) out.dim = {k, d};
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < k; ++i) out.value.push_back(of(i, j));
  return out;
}

/// Diagonal covariances, D × D × K: E[σ²] = scale_of(k, j)/(df_of(k, j) − 2), the mean of an inverse Gamma
/// distribution; infinite where that mean does not exist.
template <class Scale, class Df>
NamedArray diagonal_covariances(Index d, Index k, Scale scale_of, Df df_of) {
  NamedArray out{"cov", Vec(static_cast<std::size_t>(d * d * k), 0.0), {d, d, k}};
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < d; ++j) {
      const double divisor = df_of(i, j) - 2;
      out.value[(i * d + j) * d + j] =
          divisor > 0 ? scale_of(i, j) / divisor : std::numeric_limits<double>::infinity();
    }
  }
  return out;
}

}  // namespace bnpvi
