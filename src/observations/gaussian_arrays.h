// Arrays (means, covariances and others) that Gaussian models report of their clusters, in the user's units.
#pragma once
#include <limits>

#include "foundation/named_array.h"
#include "observations/column_gaps.h"
#include "observations/gather.h"

namespace bnpvi {

/// The means of K clusters in the user's units, K × D. mean_of(k): the mean of cluster k in engine units
/// (columns centred and scaled).
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

/// An array of numbers of(k, j) that depend on a count of rows. If cells may be missing (`gaps`), each of the
/// D columns has a count of its own, and the array is K × D. Otherwise it has K numbers.
template <class F>
NamedArray counted_array(const char* name, const ColumnGaps& gaps, Index k, Index d, F of) {
  NamedArray out{name, {}, {}};
  const Index columns = gaps ? d : 1;
  if (gaps) out.dim = {k, d};
  for (Index j = 0; j < columns; ++j)
    for (Index i = 0; i < k; ++i) out.value.push_back(of(i, j));
  return out;
}

/// The covariances of K clusters whose columns are independent, D × D × K. On the diagonal they have the mean
/// E[σ²] = scale_of(k, j)/(df_of(k, j) − 2) of an inverse Gamma distribution; infinite if that mean does not
/// exist.
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
