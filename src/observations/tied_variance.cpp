#include "observations/tied_variance.h"

#include <algorithm>
#include <cmath>

#include "observations/linalg.h"

namespace bnpvi {

namespace {

constexpr double least_share = 1e-6;

// Σ⁻¹ from the Cholesky factor of Σ.
Vec inverse_of(const Cholesky& chol) {
  const Index d = chol.size();
  Vec out(static_cast<std::size_t>(d * d), 0.0);
  for (Index i = 0; i < d; ++i) {
    out[i * d + i] = 1;
    chol.solve(out.data() + i * d);
  }
  return out;
}

}  // namespace

TiedVariance::TiedVariance(const TiedPrior& prior)
    : d_(static_cast<Index>(prior.unit.size())), shape_(prior.shape), variance_(prior.variance) {
  const Vec& unit = prior.unit;
  if (shape_ == TiedShape::full) {
    for (Index i = 0; i < d_; ++i)
      for (Index j = 0; j < d_; ++j) variance_[i * d_ + j] = variance_[i * d_ + j] / unit[i] / unit[j];
    const Cholesky chol(variance_.data(), d_);
    precision_ = inverse_of(chol);
    root_ = chol.factor();
    log_det_ = chol.log_det(0, d_);
    const Vec pivots = chol.pivots();
    for (Index i = 0; i < d_; ++i) strain_ = std::max(strain_, variance_[i * d_ + i] / pivots[i]);
    return;
  }
  for (std::size_t j = 0; j < variance_.size(); ++j) {
    variance_[j] = variance_[j] / unit[j] / unit[j];
    precision_.push_back(1 / variance_[j]);
    root_.push_back(std::sqrt(variance_[j]));
    log_det_ += std::log(variance_[j]);
  }
  if (shape_ == TiedShape::spherical) log_det_ *= static_cast<double>(d_);
}

Index TiedVariance::n_moments() const {
  return shape_ == TiedShape::full ? packed(d_, 0) : static_cast<Index>(variance_.size());
}

Vec TiedVariance::times(const Vec& matrix, const Vec& x) const {
  Vec out(x.size(), 0.0);
  for (Index i = 0; i < d_; ++i) {
    if (shape_ == TiedShape::full)
      for (Index j = 0; j < d_; ++j) out[i] += matrix[i * d_ + j] * x[j];
    else
      out[i] = matrix[shape_ == TiedShape::spherical ? 0 : i] * x[i];
  }
  return out;
}

void TiedVariance::moment_weights(double* w) const {
  if (shape_ == TiedShape::full) {
    for (Index i = 0; i < d_; ++i)
      for (Index j = 0; j <= i; ++j) w[packed(i, j)] = (i == j ? -0.5 : -1) * precision_[i * d_ + j];
  } else {
    for (std::size_t j = 0; j < precision_.size(); ++j) w[j] = -0.5 * precision_[j];
  }
}

void TiedVariance::outer(double weight, const double* x, double* moment) const {
  for (Index i = 0; i < d_; ++i) {
    if (shape_ == TiedShape::full)
      for (Index j = 0; j <= i; ++j) moment[packed(i, j)] += weight * x[i] * x[j];
    else
      moment[shape_ == TiedShape::spherical ? 0 : i] += weight * x[i] * x[i];
  }
}

void TiedVariance::add_to_squares(const Vec& more, double* moment) const {
  for (Index i = 0; i < static_cast<Index>(more.size()); ++i)
    moment[shape_ == TiedShape::full ? packed(i, i) : shape_ == TiedShape::spherical ? 0 : i] += more[i];
}

Vec TiedVariance::covariance() const {
  if (shape_ == TiedShape::full) return variance_;
  Vec out(static_cast<std::size_t>(d_ * d_), 0.0);
  for (Index j = 0; j < d_; ++j) out[j * d_ + j] = variance_[shape_ == TiedShape::spherical ? 0 : j];
  return out;
}

double TiedVariance::strain() const { return strain_; }

Vec TiedVariance::best(const Vec& moment, double n, const TiedPrior& prior) const {
  const Vec &unit = prior.unit, &spread = prior.data_variance;
  if (shape_ == TiedShape::spherical) {
    double least = 0;
    for (double v : spread) least += least_share * v / static_cast<double>(d_);
    return {std::max(moment[0] / (n * static_cast<double>(d_)) * unit[0] * unit[0], least)};
  }
  if (shape_ == TiedShape::diagonal) {
    Vec out;
    for (Index j = 0; j < d_; ++j)
      out.push_back(std::max(moment[j] / n * unit[j] * unit[j], least_share * spread[j]));
    return out;
  }
  Vec out(static_cast<std::size_t>(d_ * d_)), width;
  for (Index j = 0; j < d_; ++j) width.push_back(std::sqrt(spread[j]) / unit[j]);
  for (Index i = 0; i < d_; ++i)
    for (Index j = 0; j <= i; ++j)
      out[i * d_ + j] = out[j * d_ + i] = moment[packed(i, j)] / n / width[i] / width[j];
  map_eigenvalues(out.data(), d_, [](double x) { return std::max(x, least_share); });
  for (Index i = 0; i < d_; ++i)
    for (Index j = 0; j < d_; ++j) out[i * d_ + j] *= width[i] * width[j] * unit[i] * unit[j];
  return out;
}

}  // namespace bnpvi
