#include "observations/obs_beta.h"

#include "foundation/special.h"

namespace bnpvi {

double log_beta_gain(double a, double b, double one, double zero) {
  return log_gamma_difference(a + b, one + zero) - log_gamma_difference(a, one) -
         log_gamma_difference(b, zero);
}

double BetaModel::log_evidence(const double* t) const {
  double sum = 0;
  for (Index j = 0; j < columns(); ++j) {
    const double one = count_ones(t, j), zero = count_zeros(t, j);
    sum += log_gamma_difference(a_[j] + b_[j], one + zero) - log_gamma_difference(bound_a_[j], one) -
           log_gamma_difference(bound_b_[j], zero);
  }
  return sum;
}

NamedArrays BetaModel::posterior(const double* t, Index k) const {
  NamedArray a{"a", {}, {k, columns()}}, b{"b", {}, {k, columns()}};
  for (Index j = 0; j < columns(); ++j)
    for (Index i = 0; i < k; ++i) {
      a.value.push_back(ones(t + i * n_features(), j));
      b.value.push_back(zeros(t + i * n_features(), j));
    }
  return {a, b};
}

NamedArrays BetaModel::mean_parameters(const double* t, Index k) const {
  const NamedArrays q = posterior(t, k);
  NamedArray out = q[0];
  out.name = "prob";
  for (std::size_t i = 0; i < out.value.size(); ++i) out.value[i] /= q[0].value[i] + q[1].value[i];
  return {out};
}

}  // namespace bnpvi
