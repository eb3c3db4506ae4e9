#include "observations/dirichlet_array.h"

#include <algorithm>

namespace bnpvi {

NamedArray dirichlet_array(const Vec& weight, const double* t, Index k) {
  const Index d = static_cast<Index>(weight.size());
  NamedArray out{"concentration", {}, {k, d}};
  for (Index v = 0; v < d; ++v)
    for (Index i = 0; i < k; ++i) out.value.push_back(weight[v] + std::max(t[i * (1 + d) + 1 + v], 0.0));
  return out;
}

}  // namespace bnpvi
