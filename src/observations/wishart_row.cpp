// Point estimates from single rows, for Gaussians with a normal–Wishart prior and for those of mean zero.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "observations/gram.h"
#include "observations/obs_wishart.h"

namespace bnpvi {

namespace {

// The largest factor by which a row may raise the largest eigenvalue of B⁻¹B̂: as many digits of B̂⁻¹ are
// lost in the subtraction. A guess; the few rows farther away get a factorisation of their own.
constexpr double most_raised = 1e6;

}  // namespace

void WishartModel::prepare_row_estimates(const Cholesky& scale) {
  Vec root;
  try {
    root = scale.inverse_factor();
  } catch (const std::domain_error&) {
    return;
  }
  log_det_scale_ = scale.log_det(0, d_);
  inverse_scale_.assign(static_cast<std::size_t>(d_ * d_), 0.0);
  add_inner_gram(root.data(), d_, d_, inverse_scale_.data());
  for (Index i = 0; i < d_; ++i)
    for (Index j = 0; j < i; ++j) inverse_scale_[j * d_ + i] = inverse_scale_[i * d_ + j];
}

// With N the count of the row and δ = y − M: M̂ = M + N/(κ + N) δ, B̂ = B + g δδᵀ, g = κN/(κ + N), and
// B̂⁻¹ = B⁻¹ − g/(1 + g q) h hᵀ, |B̂| = |B| (1 + g q), with h = B⁻¹δ, q = δᵀh [Sherman and Morrison 1950].
// For a mean of zero M̂ = 0 and B̂ = B + y yᵀ, where y is multiplied by the square root of the count.
void WishartModel::row_estimate(const double* phi, double times, double* mean, double* w) const {
  const Index d = d_;
  const double d_d = static_cast<double>(d), count = times * phi[0];
  Vec memory(static_cast<std::size_t>(4 * d + m_), 0.0);
  double *offset = memory.data(), *pulled = offset + d, *centre = pulled + d, *linear = centre + d,
         *v = linear + d;
  coordinates_of(phi, v);
  double g = times;
  if (e_ == 0) {
    std::copy_n(v, d, offset);
  } else {
    const double strength = given_.precision[0], share = count / (strength + count);
    g = strength * share;
    for (Index i = 0; i < d; ++i) {
      offset[i] = v[1 + i] / v[0] - given_.coef[i];
      centre[i] = given_.coef[i] + share * offset[i];
    }
  }
  double q = 0;
  for (Index i = 0; i < d; ++i) {
    const double* row = inverse_scale_.data() + i * d;
    for (Index j = 0; j < d; ++j) pulled[i] += row[j] * offset[j];
    q += offset[i] * pulled[i];
  }
  if (!(g * q <= most_raised)) return PlainRowEstimates(*this).row_estimate(phi, times, mean, w);

  const double df = std::max(df_ + count - d_d - 1, 1.0), less = g / (1 + g * q);
  const auto at = [this](Index i, Index j) { return offset_ + packed(e_ + i, e_ + j); };
  mean[0] = 1;
  w[0] = row_constant() + 0.5 * (d_d * std::log(df) - log_det_scale_ - std::log1p(g * q));
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j <= i; ++j) {
      const double precision = df * (inverse_scale_[i * d + j] - less * pulled[i] * pulled[j]);
      mean[at(i, j)] = centre[i] * centre[j] + (given_.scale[i * d + j] + g * offset[i] * offset[j]) / df;
      w[at(i, j)] = (i == j ? -0.5 : -1) * precision;
      linear[i] += precision * centre[j];
      if (j < i) linear[j] += precision * centre[i];
    }
  if (e_ == 0) return;
  for (Index i = 0; i < d; ++i) {
    mean[packed(1 + i, 0)] = centre[i];
    w[packed(1 + i, 0)] = linear[i];
    w[0] -= 0.5 * centre[i] * linear[i];
  }
}

}  // namespace bnpvi
