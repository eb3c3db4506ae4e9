// Weights, shares and arrays that follow from a tilt (tilt.h).
#include <numeric>

#include "observations/linalg.h"
#include "tilt/tilt.h"
#include "tilt/weight_posterior.h"

namespace bnpvi {

Index tilt_width(const TiltPrior& prior) {
  return (prior.finite ? 1 : 2) + prior.columns + prior.columns * (prior.columns + 1) / 2;
}

Index tilt_numbers(const TiltPrior& prior, Index k) { return k * tilt_width(prior) + prior.rest; }

Index tilted_clusters(const TiltPrior& prior, const Tilt& q) {
  return (static_cast<Index>(q.size()) - prior.rest) / tilt_width(prior);
}

Vec tilt_log_weights(const TiltPrior& prior, const Tilt& q) {
  const Index width = tilt_width(prior), k = tilted_clusters(prior, q), base = prior.finite ? 1 : 2;
  Vec base_values;
  for (Index j = 0; j < k; ++j)
    base_values.insert(base_values.end(), q.begin() + j * width, q.begin() + j * width + base);
  if (prior.rest) base_values.push_back(q.back());
  const Vec log_pi =
      WeightPosterior(prior, base_values, Vec(static_cast<std::size_t>(k), 0.0)).expected_log();
  Vec out;
  for (Index j = 0; j < k; ++j) {
    out.push_back(log_pi[j]);
    for (Index c = 0; c < prior.patterns; ++c)
      out.push_back(std::inner_product(prior.x.begin() + c * prior.columns,
                                       prior.x.begin() + (c + 1) * prior.columns,
                                       q.begin() + j * width + base, 0.0));
  }
  return out;
}

NamedArrays tilt_arrays(const TiltPrior& prior, const Tilt& q) {
  const Index width = tilt_width(prior), k = tilted_clusters(prior, q), p = prior.columns,
              base = prior.finite ? 1 : 2;
  const std::size_t cells = static_cast<std::size_t>(k * p);
  NamedArray weights{prior.finite ? "untilted_concentration" : "untilted_sticks",
                     Vec(static_cast<std::size_t>(k * base)),
                     {}};
  if (!prior.finite) weights.dim = {k, 2};
  NamedArray mean{"effects", Vec(cells), {k, p}}, cov{"effects_cov", {}, {p, p, k}};
  for (Index j = 0; j < k; ++j) {
    const double* own = q.data() + j * width;
    for (Index i = 0; i < base; ++i) weights.value[i * k + j] = own[i];
    for (Index i = 0; i < p; ++i) mean.value[i * k + j] = own[base + i];
    Vec precision(static_cast<std::size_t>(p * p));
    for (Index i = 0; i < p; ++i)
      for (Index l = 0; l < p; ++l) precision[i * p + l] = own[base + p + packed(i, l)];
    const Cholesky chol(precision.data(), p);
    for (Index i = 0; i < p; ++i) {
      Vec column(static_cast<std::size_t>(p), 0.0);
      column[i] = 1;
      chol.solve(column.data());
      cov.value.insert(cov.value.end(), column.begin(), column.end());
    }
  }
  return {weights, mean, cov};
}

}  // namespace bnpvi
