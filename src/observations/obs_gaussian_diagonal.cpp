#include <algorithm>
#include <cmath>
#include <limits>

#include "foundation/special.h"
#include "observations/gaussian_arrays.h"
#include "observations/gaussian_prior.h"
#include "observations/obs_models.h"

namespace bnpvi {

namespace {

// φ = (1, x̃, x̃²). Every coordinate is a one-dimensional Normal–Wishart with its own mean and scale and
// the common κ and ν.
class GaussianDiagonal final : public WithGaussianPrior<GaussianDiagonal, ObsModel> {
 public:
  explicit GaussianDiagonal(const GaussianPrior& given)
      : WithGaussianPrior(OwnGaussianPrior(given, 1)),
        d_(static_cast<Index>(given.mean.size())),
        strength_(given.mean_strength),
        df_(given.df),
        mean_(prior().mean),
        scale_(prior().scale),
        columns_(given.centre, given.unit) {
    row_constant_ = columns_.log_jacobian - 0.5 * static_cast<double>(d_) * log_2pi;
    log_z_prior_ = log_z(strength_, df_, scale_);
  }

  /// What a cluster's posterior says of the prior.
  ExpectedClusters expected_cluster(const double* t) const {
    const Posterior q = update(t);
    const double d = static_cast<double>(d_);
    ExpectedClusters out{log_evidence(t), d * (digamma(0.5 * q.df) + log_2), {}, {}, d / q.strength};
    for (Index j = 0; j < d_; ++j) {
      const double precision = q.df / q.scale[j], offset = q.mean[j] - mean_[j];
      out.log_det -= std::log(q.scale[j]);
      out.precision.push_back(precision);
      out.weighted_offset.push_back(precision * offset);
      out.mean_spread += precision * offset * offset;
    }
    return out;
  }

  Index n_features() const override { return 1 + 2 * d_; }
  Index n_columns() const override { return d_; }
  bool knows_far_rows() const override { return true; }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    gather(data, columns_, rows, n, 0, phi + 1, ld);
    for (Index i = 0; i < n; ++i) {
      double* f = phi + i * ld;
      const double inverse = bring_near(d_, f + 1);
      f[0] = inverse * inverse;
      for (Index j = 1; j <= d_; ++j) f[d_ + j] = f[j] * f[j], f[j] *= inverse;
    }
  }

  double strain() const override {
    double most = 1;
    for (Index j = 0; j < d_; ++j) {
      const double ratio = 1 + strength_ * mean_[j] * mean_[j] / scale_[j];
      most = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : std::max(most, ratio);
    }
    return most;
  }

  void re_express(const ObsModel& from, double* t) const override {
    const ColumnChange change(dynamic_cast<const GaussianDiagonal&>(from).columns_, columns_);
    for (Index j = 0; j < d_; ++j) {
      const double scale = change.scale[j], shift = change.shift[j];
      double &sum = t[1 + j], &square = t[1 + d_ + j];
      square = scale * scale * square + shift * (2 * scale * sum + shift * t[0]);
      sum = scale * sum + shift * t[0];
    }
  }

  double log_evidence(const double* t) const override {
    const Posterior q = update(t);
    return log_z(q.strength, q.df, q.scale) - log_z_prior_ + t[0] * row_constant_;
  }

  void weights(const double* t, double* w) const override {
    const Posterior q = update(t);
    const double d = static_cast<double>(d_);
    w[0] = row_constant_ + 0.5 * d * (digamma(0.5 * q.df) + log_2 - 1 / q.strength);
    for (Index j = 0; j < d_; ++j) {
      const double precision = q.df / q.scale[j];
      w[0] -= 0.5 * (std::log(q.scale[j]) + precision * q.mean[j] * q.mean[j]);
      w[1 + j] = precision * q.mean[j];
      w[1 + d_ + j] = -0.5 * precision;
    }
  }

  // N(m̂, B̂/ν̂), as for the full covariance.
  void point_estimate(const double* t, double* mean, double* w) const override {
    const Posterior q = update(t);
    mean[0] = 1;
    w[0] = row_constant_;
    for (Index j = 0; j < d_; ++j) {
      const double variance = q.scale[j] / q.df;
      mean[1 + j] = q.mean[j];
      mean[1 + d_ + j] = variance + q.mean[j] * q.mean[j];
      w[0] -= 0.5 * (std::log(variance) + q.mean[j] * q.mean[j] / variance);
      w[1 + j] = q.mean[j] / variance;
      w[1 + d_ + j] = -0.5 / variance;
    }
  }

  // A product of Student-t densities.
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    const Posterior q = update(t);
    const double shrink = q.strength / (q.strength + 1);
    double constant =
        row_constant_ + static_cast<double>(d_) * (log_gamma(0.5 * (q.df + 1)) - log_gamma(0.5 * q.df) +
                                                   0.5 * (log_2 + std::log(shrink)));
    for (Index j = 0; j < d_; ++j) constant -= 0.5 * std::log(q.scale[j]);
    for (Index i = 0; i < n; ++i) {
      double sum = 0;
      for (Index j = 0; j < d_; ++j) {
        const double e = phi[i * ld + 1 + j] / phi[i * ld] - q.mean[j];
        sum += std::abs(e) < 1e100 ? std::log1p(shrink * e * e / q.scale[j])
                                   : std::log(shrink / q.scale[j]) + 2 * std::log(std::abs(e));
      }
      out[i] = constant - 0.5 * (q.df + 1) * sum;
    }
  }

  NamedArrays posterior(const double* t, Index k) const override {
    NamedArray strength{"mean_strength", {}, {}}, df{"df", {}, {}};
    for (Index i = 0; i < k; ++i) {
      strength.value.push_back(strength_ + t[i * n_features()]);
      df.value.push_back(df_ + t[i * n_features()]);
    }
    return {mean_array(t, k), strength, df, scale_array(t, k)};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    const NamedArray scale = scale_array(t, k);
    return {mean_array(t, k), diagonal_covariances(
                                  d_, k, [&](Index i, Index j) { return scale.value[i + k * j]; },
                                  [&](Index i) { return df_ + t[i * n_features()]; })};
  }

 private:
  struct Posterior {
    double strength, df;
    Vec mean, scale;
  };

  // κ̂ ≥ κ, ν̂ ≥ ν and B̂ ≥ B in exact arithmetic, which is enforced against rounding.
  Posterior update(const double* t) const {
    const double n = std::max(t[0], 0.0);
    Posterior q{strength_ + n, df_ + n, mean_, scale_};
    for (Index j = 0; j < d_; ++j) {
      q.mean[j] = (strength_ * mean_[j] + t[1 + j]) / q.strength;
      const double spread =
          t[1 + d_ + j] + strength_ * mean_[j] * mean_[j] - q.strength * q.mean[j] * q.mean[j];
      q.scale[j] += std::max(spread, 0.0);
    }
    return q;
  }

  double log_z(double strength, double df, const Vec& scale) const {
    double sum =
        static_cast<double>(d_) * (0.5 * df * log_2 + log_gamma(0.5 * df) - 0.5 * std::log(strength));
    for (double b : scale) sum -= 0.5 * df * std::log(b);
    return sum;
  }

  NamedArray mean_array(const double* t, Index k) const {
    return bnpvi::mean_array(columns_, k, [&](Index i) { return update(t + i * n_features()).mean; });
  }

  NamedArray scale_array(const double* t, Index k) const {
    NamedArray out{"scale", Vec(static_cast<std::size_t>(k * d_)), {k, d_}};
    for (Index i = 0; i < k; ++i) {
      const Posterior q = update(t + i * n_features());
      for (Index j = 0; j < d_; ++j) out.value[i + k * j] = q.scale[j] * columns_.unit[j] * columns_.unit[j];
    }
    return out;
  }

  Index d_;
  double strength_, df_;
  Vec mean_, scale_;
  Columns columns_;
  double row_constant_, log_z_prior_;
};

}  // namespace

std::unique_ptr<ObsModel> make_gaussian_diagonal(const GaussianPrior& prior) {
  return std::make_unique<GaussianDiagonal>(prior);
}

}  // namespace bnpvi
