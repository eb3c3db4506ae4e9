#include "observations/gaussian_columns.h"

#include "observations/gather.h"

namespace bnpvi {

NamedArrays GaussianColumns::posterior(const double* t, Index k) const {
  const auto q = posterior_parameters(t, k);
  NamedArray strength{"mean_strength", {}, {}};
  for (const auto& cluster : q) strength.value.push_back(cluster.precision[0]);
  return {mean_array(q), strength, df_array(q), scale_array(q)};
}

NamedArrays GaussianColumns::mean_parameters(const double* t, Index k) const {
  const auto q = posterior_parameters(t, k);
  return {mean_array(q), covariance_array(q)};
}

void GaussianColumns::gather_rows(const Dataset& data, const Index* rows, Index n, double* v) const {
  const Index m = 1 + responses();
  for (Index i = 0; i < n; ++i) v[i * m] = 1;
  gather(data, columns(), rows, n, 0, v + 1, m);
}

NamedArray GaussianColumns::mean_array(const std::vector<WishartParameters>& q) const {
  NamedArray out{"mean", {}, {static_cast<Index>(q.size()), responses()}};
  for (Index j = 0; j < responses(); ++j)
    for (const auto& cluster : q)
      out.value.push_back(columns().centre[j] + columns().unit[j] * cluster.coef[j]);
  return out;
}

}  // namespace bnpvi
