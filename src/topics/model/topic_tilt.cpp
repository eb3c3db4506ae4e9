#include "topics/model/topic_tilt.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"
#include "observations/linalg.h"

namespace bnpvi::topics {

namespace {

constexpr double no_doubt = 1e10;  // precision of effects that are not known yet to be any

void exponentiate(const Vec& x, Vec& out) {
  out.resize(x.size());
  const Index n = static_cast<Index>(x.size());
  double top = 0;
  kernels().exp_rows(1, n, x.data(), n, out.data(), n, &top);
  const double largest = std::exp(top);
  for (double& e : out) e *= largest;
}

}  // namespace

TopicEffect::TopicEffect(const TopicTilt& tilt)
    : tilt_(&tilt),
      mean_(static_cast<std::size_t>(tilt.columns), 0.0),
      precision_(static_cast<std::size_t>(tilt.columns * tilt.columns), 0.0) {
  for (Index i = 0; i < tilt.columns; ++i) precision_[i * (tilt.columns + 1)] = no_doubt;
  take_precision();
  take_mean();
}

TopicEffect::TopicEffect(const TopicTilt& tilt, const double* stored)
    : tilt_(&tilt), mean_(stored, stored + tilt.columns) {
  const double* triangle = stored + tilt.columns;
  for (Index i = 0; i < tilt.columns; ++i)
    for (Index l = 0; l < tilt.columns; ++l) precision_.push_back(triangle[packed(i, l)]);
  take_precision();
  take_mean();
}

void TopicEffect::store(double* to) const {
  to = std::copy(mean_.begin(), mean_.end(), to);
  for (Index i = 0; i < tilt_->columns; ++i)
    for (Index l = 0; l <= i; ++l) *to++ = precision_[i * tilt_->columns + l];
}

Vec TopicEffect::covariance() const {
  const Index p = tilt_->columns;
  Vec out(static_cast<std::size_t>(p * p), 0.0);
  for (Index i = 0; i < p; ++i)
    for (Index j = 0; j < p; ++j)
      for (Index l = std::max(i, j); l < p; ++l) out[i * p + j] += root_[l * p + i] * root_[l * p + j];
  return out;
}

void TopicEffect::take_precision() {
  const Index p = tilt_->columns, n = tilt_->patterns;
  variance_ = tilt_->more_variance;
  variance_.resize(static_cast<std::size_t>(n), 0.0);
  spread_ = 0;
  if (p > 0) {
    const Cholesky chol(precision_.data(), p);
    root_ = chol.inverse_factor();
    for (double v : root_) spread_ += v * v / tilt_->variance;
    spread_ += chol.log_det(0, p) + static_cast<double>(p) * (std::log(tilt_->variance) - 1);
  }
  for (Index c = 0; c < n; ++c)
    for (Index i = 0; i < p; ++i) {
      double entry = 0;
      for (Index l = 0; l <= i; ++l) entry += root_[i * p + l] * tilt_->x[c * p + l];
      variance_[c] += entry * entry;
    }
  exponentiate(variance_, spread_factor_);
}

void TopicEffect::take_mean() {
  const Index p = tilt_->columns, n = tilt_->patterns;
  slope_.assign(static_cast<std::size_t>(n), 0.0);
  log_factor_.resize(static_cast<std::size_t>(n));
  double square = 0;
  for (double m : mean_) square += m * m;
  divergence_ = 0.5 * (spread_ + square / tilt_->variance);
  for (Index c = 0; c < n; ++c) {
    for (Index i = 0; i < p; ++i) slope_[c] += tilt_->x[c * p + i] * mean_[i];
    log_factor_[c] = slope_[c] + variance_[c] / 2;
  }
  exponentiate(log_factor_, factor_);
}

}  // namespace bnpvi::topics
