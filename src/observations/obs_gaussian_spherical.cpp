#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "foundation/special.h"
#include "observations/gaussian_arrays.h"
#include "observations/obs_models.h"

namespace bnpvi {

namespace {

// φ = (1, x̃, |x̃|²), the same unit for all columns. μ ~ N(m, 1/(κλ)), λ ~ Gamma(ν/2, B/2) has the posterior
//   κ̂ = κ + N,   m̂ = (κm + S)/κ̂,   ν̂ = ν + ND,   B̂ = B + Σ|x̃|² + κ|m|² − κ̂|m̂|².
class GaussianSpherical final : public ObsModel {
 public:
  explicit GaussianSpherical(const GaussianPrior& prior)
      : d_(static_cast<Index>(prior.mean.size())),
        strength_(prior.mean_strength),
        df_(prior.df),
        columns_(prior.centre, prior.unit) {
    const double unit = prior.unit.at(0);
    if (std::any_of(prior.unit.begin(), prior.unit.end(), [&](double u) { return u != unit; }))
      throw std::invalid_argument("spherical clusters need one unit for all columns");
    scale_ = prior.scale.at(0) / unit / unit;
    for (Index j = 0; j < d_; ++j) mean_.push_back((prior.mean[j] - prior.centre[j]) / unit);
    row_constant_ = columns_.log_jacobian - 0.5 * d() * log_2pi;
    log_z_prior_ = log_z(strength_, df_, scale_);
  }

  Index n_features() const override { return 2 + d_; }
  Index n_columns() const override { return d_; }
  bool knows_far_rows() const override { return true; }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    gather(data, columns_, rows, n, 0, phi + 1, ld);
    for (Index i = 0; i < n; ++i) {
      double* f = phi + i * ld;
      const double inverse = bring_near(d_, f + 1);
      f[0] = inverse * inverse;
      f[1 + d_] = 0;
      for (Index j = 1; j <= d_; ++j) f[1 + d_] += f[j] * f[j], f[j] *= inverse;
    }
  }

  double strain() const override {
    const double ratio = 1 + strength_ * square(mean_) / scale_;
    return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
  }

  void re_express(const ObsModel& from, double* t) const override {
    const ColumnChange change(dynamic_cast<const GaussianSpherical&>(from).columns_, columns_);
    const double scale = change.scale[0];
    double& sum_of_squares = t[1 + d_];
    sum_of_squares *= scale * scale;
    for (Index j = 0; j < d_; ++j) {
      const double shift = change.shift[j];
      sum_of_squares += shift * (2 * scale * t[1 + j] + shift * t[0]);
      t[1 + j] = scale * t[1 + j] + shift * t[0];
    }
  }

  double log_evidence(const double* t) const override {
    const Posterior q = update(t);
    return log_z(q.strength, q.df, q.scale) - log_z_prior_ + t[0] * row_constant_;
  }

  void weights(const double* t, double* w) const override {
    const Posterior q = update(t);
    natural(q, q.df / q.scale, w);
    w[0] += row_constant_ + 0.5 * d() * (digamma(0.5 * q.df) + log_2 - 1 / q.strength - std::log(q.scale));
  }

  // N(m̂, B̂/ν̂), as for other covariances.
  void point_estimate(const double* t, double* mean, double* w) const override {
    const Posterior q = update(t);
    const double variance = q.scale / q.df;
    mean[0] = 1;
    std::copy(q.mean.begin(), q.mean.end(), mean + 1);
    mean[1 + d_] = square(q.mean) + d() * variance;
    natural(q, 1 / variance, w);
    w[0] += row_constant_ - 0.5 * d() * std::log(variance);
  }

  // Multivariate Student-t.
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    const Posterior q = update(t);
    const double shrink = q.strength / (q.strength + 1);
    const double constant = row_constant_ - log_gamma_difference(0.5 * q.df, 0.5 * d()) +
                            0.5 * d() * std::log(2 * shrink / q.scale);
    for (Index i = 0; i < n; ++i) {
      const auto offset = [&](Index j) { return phi[i * ld + 1 + j] / phi[i * ld] - q.mean[j]; };
      double largest = 1, sum = 0;
      for (Index j = 0; j < d_; ++j) largest = std::max(largest, std::abs(offset(j)));
      for (Index j = 0; j < d_; ++j) sum += offset(j) / largest * (offset(j) / largest);
      const double log_square = 2 * std::log(largest) + std::log(shrink / q.scale * sum);
      out[i] = constant - 0.5 * (q.df + d()) * log_1p_exp(log_square);
    }
  }

  NamedArrays posterior(const double* t, Index k) const override {
    NamedArray strength{"mean_strength", {}, {}}, df{"df", {}, {}}, scale{"scale", {}, {}};
    for (Index i = 0; i < k; ++i) {
      const Posterior q = update(t + i * n_features());
      strength.value.push_back(q.strength);
      df.value.push_back(q.df);
      scale.value.push_back(q.scale * columns_.unit[0] * columns_.unit[0]);
    }
    const auto mean_of = [&](Index i) { return update(t + i * n_features()).mean; };
    return {mean_array(columns_, k, mean_of), strength, df, scale};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    const NamedArrays q = posterior(t, k);
    return {q[0], diagonal_covariances(
                      d_, k, [&](Index i, Index) { return q[3].value[i]; },
                      [&](Index i) { return q[2].value[i]; })};
  }

 private:
  struct Posterior {
    double strength, df, scale;
    Vec mean;
  };

  // κ̂ ≥ κ, ν̂ ≥ ν and B̂ ≥ B in exact arithmetic, which is enforced against rounding.
  Posterior update(const double* t) const {
    const double n = std::max(t[0], 0.0);
    Posterior q{strength_ + n, df_ + n * d(), scale_, mean_};
    for (Index j = 0; j < d_; ++j) q.mean[j] = (strength_ * mean_[j] + t[1 + j]) / q.strength;
    q.scale += std::max(t[1 + d_] + strength_ * square(mean_) - q.strength * square(q.mean), 0.0);
    return q;
  }

  // Weights of x̃ and |x̃|² under N(m̂, 1/precision), and −½ precision |m̂|².
  void natural(const Posterior& q, double precision, double* w) const {
    for (Index j = 0; j < d_; ++j) w[1 + j] = precision * q.mean[j];
    w[1 + d_] = -0.5 * precision;
    w[0] = -0.5 * precision * square(q.mean);
  }

  double log_z(double strength, double df, double scale) const {
    return 0.5 * df * (log_2 - std::log(scale)) + log_gamma(0.5 * df) - 0.5 * d() * std::log(strength);
  }

  static double square(const Vec& v) {
    double sum = 0;
    for (double x : v) sum += x * x;
    return sum;
  }
  double d() const { return static_cast<double>(d_); }

  Index d_;
  double strength_, df_, scale_ = 1;
  Vec mean_;
  Columns columns_;
  double row_constant_ = 0, log_z_prior_ = 0;
};

}  // namespace

std::unique_ptr<ObsModel> make_gaussian_spherical(const GaussianPrior& prior) {
  return std::make_unique<GaussianSpherical>(prior);
}

}  // namespace bnpvi
