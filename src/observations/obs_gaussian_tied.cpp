#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "observations/capabilities.h"
#include "observations/gaussian_arrays.h"
#include "observations/gaussian_prior.h"
#include "observations/obs_models.h"
#include "observations/tied_variance.h"

namespace bnpvi {

namespace {

// size: length of `variance`.
TiedPrior tied_prior(const Fields& f, TiedShape shape, Index size) {
  const Index d = columns_of(f);
  TiedPrior out;  // field by field, as in gaussian_prior()
  out.shape = shape;
  out.mean = f.numbers("mean", d);
  out.mean_strength = f.number("mean_strength");
  out.variance = f.numbers("variance", size);
  out.centre = f.numbers("centre", d);
  out.unit = f.numbers("unit", d);
  if (f.has("data_variance")) out.data_variance = f.numbers("data_variance", d);
  out.from_one = f.has("from_one");
  out.rounding = rounding_of(f);
  return out;
}

// φ = (1, x̃, second moments in the shape of Σ); the weights of second moments are −½Σ⁻¹ in all clusters.
// q(μ) = N(m̂, Σ/κ̂), κ̂ = κ + N, m̂ = (κm + S)/κ̂, and
//   Λ = ½ { D log(κ/κ̂) − tr Σ⁻¹[Σ x̃x̃ᵀ + κ mmᵀ − κ̂ m̂m̂ᵀ] − N log|2πΣ| } − N Σ log unit.
//
// More than 1e10 units from the centre, second moments would drown the differences between clusters. There,
// features are (1, x̃, 0)/ρ, with the least ρ that brings x̃/ρ within that distance. Such rows are only
// predicted, and their responsibilities come from the terms that differ between clusters. Log densities
// below −1e300 are given as about −1e300, in the order of the limit far away, where clusters of fewer rows
// are wider.
class GaussianTied final : public ObsModel, public ColumnUnits, public LearnedPrior {
 public:
  explicit GaussianTied(const TiedPrior& prior)
      : prior_(prior),
        d_(static_cast<Index>(prior.unit.size())),
        strength_(prior.mean_strength),
        columns_(prior.centre, prior.unit, prior.rounding),
        variance_(prior) {
    for (Index j = 0; j < d_; ++j) mean_.push_back((prior.mean[j] - prior.centre[j]) / prior.unit[j]);
    row_constant_ = columns_.log_jacobian - 0.5 * (d() * log_2pi + variance_.log_det());
    moment_weights_.resize(static_cast<std::size_t>(variance_.n_moments()));
    variance_.moment_weights(moment_weights_.data());
  }

  std::shared_ptr<const ObsModel> learned(const double* t, Index k, PriorSteps, Pool*) const override {
    const Index occupied = occupied_clusters(t, k, n_features());
    if (occupied < (prior_.from_one ? 1 : 2)) return nullptr;
    Vec moment(static_cast<std::size_t>(variance_.n_moments()), 0.0);
    double n = 0;
    for (Index i = 0; i < k; ++i) {
      const double* ti = t + i * n_features();
      if (!(ti[0] > 0)) continue;
      n += ti[0];
      const Vec around = moment_around_mean(ti);
      for (std::size_t j = 0; j < moment.size(); ++j) moment[j] += around[j];
    }
    TiedPrior out = prior_;
    try {
      out.variance = variance_.best(moment, n, prior_);
      return std::make_shared<GaussianTied>(out);
    } catch (const std::domain_error&) {
      return nullptr;
    }
  }
  NamedArrays learned_fields() const override {
    NamedArray out{"variance", prior_.variance, {}};
    if (prior_.shape == TiedShape::full) out.dim = {d_, d_};
    return {out};
  }

  Index n_features() const override { return 1 + d_ + variance_.n_moments(); }
  Index n_columns() const override { return d_; }
  Capabilities capabilities() const override {
    Capabilities out;
    out.far_rows = true;
    out.units = this;
    if (!prior_.data_variance.empty()) out.prior = this;
    return out;
  }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    constexpr double farthest = 1e10;
    gather(data, columns_, rows, n, 0, phi + 1, ld);
    for (Index i = 0; i < n; ++i) {
      double* f = phi + i * ld;
      double most = 0;
      for (Index j = 1; j <= d_; ++j) most = std::max(most, std::abs(f[j]));
      f[0] = most <= farthest ? 1 : farthest / most;
      std::fill(f + 1 + d_, f + n_features(), 0.0);
      if (most <= farthest) {
        variance_.outer(1, f + 1, f + 1 + d_);
        variance_.add_to_squares(columns_.cell, f + 1 + d_);
      } else {
        for (Index j = 1; j <= d_; ++j) f[j] *= f[0];
      }
    }
  }

  double strain() const override {
    const double ratio = variance_.strain() + strength_ * dot(mean_, variance_.precision_times(mean_));
    return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
  }

  void re_express(const ObsModel& from, double* t) const override {
    const ColumnChange change(same_kind<GaussianTied>(from).columns_, columns_);
    const Vec sum(t + 1, t + 1 + d_);
    double* moment = t + 1 + d_;
    // Σ (sx + c)(sx + c)ᵀ, entry by entry. If the moment is one number (spherical), all scales are equal.
    Index at = 0;
    if (prior_.shape == TiedShape::spherical) moment[0] *= change.scale[0] * change.scale[0];
    for (Index i = 0; i < d_; ++i)
      for (Index j = prior_.shape == TiedShape::full ? 0 : i; j <= i; ++j) {
        const double more = change.shift[i] * change.scale[j] * sum[j] +
                            change.shift[j] * change.scale[i] * sum[i] +
                            change.shift[i] * change.shift[j] * t[0];
        if (prior_.shape == TiedShape::spherical)
          moment[0] += more;
        else
          moment[at] = change.scale[i] * change.scale[j] * moment[at] + more;
        ++at;
      }
    for (Index j = 0; j < d_; ++j) t[1 + j] = change.scale[j] * sum[j] + change.shift[j] * t[0];
  }

  double log_evidence(const double* t) const override {
    const Vec moment = moment_around_mean(t);
    double sum = 0.5 * d() * -std::log1p(count(t) / strength_) + t[0] * row_constant_;
    for (std::size_t j = 0; j < moment.size(); ++j) sum += moment_weights_[j] * moment[j];
    return sum;
  }

  void weights(const double* t, double* w) const override {
    around(posterior_mean(t), w);
    w[0] -= 0.5 * d() / (strength_ + count(t));
  }

  // N(m̂, Σ).
  void point_estimate(const double* t, double* mean, double* w) const override {
    const Vec m = posterior_mean(t), cov = variance_.covariance();
    mean[0] = 1;
    std::copy(m.begin(), m.end(), mean + 1);
    double* moment = mean + 1 + d_;
    std::fill_n(moment, variance_.n_moments(), 0.0);
    variance_.outer(1, m.data(), moment);
    Index at = 0;
    for (Index i = 0; i < d_; ++i)
      for (Index j = prior_.shape == TiedShape::full ? 0 : i; j <= i; ++j, ++at)
        moment[prior_.shape == TiedShape::spherical ? 0 : at] += cov[i * d_ + j];
    around(m, w);
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    Vec normal(static_cast<std::size_t>(d_));
    for (double& z : normal) z = draw_normal(stream);
    const Vec offset = variance_.root_times(normal);
    Vec m = posterior_mean(t);
    for (Index j = 0; j < d_; ++j) m[j] += offset[j] / std::sqrt(strength_ + count(t));
    around(m, w);
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    const Vec m = posterior_mean(t);
    const double shrink = (strength_ + count(t)) / (strength_ + count(t) + 1);
    Vec e(m.size());
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < d_; ++j) e[j] = phi[i * ld + 1 + j] / phi[i * ld] - m[j];
      const double square = dot(e, variance_.precision_times(e));
      out[i] = row_constant_ + 0.5 * d() * std::log(shrink) - 0.5 * shrink * square;
      if (!(out[i] > -1e300)) out[i] = -1e300 * (1 + 1e-12 * std::log1p(strength_ + count(t)));
    }
  }

  NamedArrays posterior(const double* t, Index k) const override {
    NamedArray strength{"mean_strength", {}, {}};
    for (Index i = 0; i < k; ++i) strength.value.push_back(strength_ + count(t + i * n_features()));
    return {mean_array(t, k), strength, covariance_array(k)};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    return {mean_array(t, k), covariance_array(k)};
  }

 private:
  static double count(const double* t) { return std::max(t[0], 0.0); }
  static double dot(const Vec& a, const Vec& b) {
    double sum = 0;
    for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * b[j];
    return sum;
  }
  double d() const { return static_cast<double>(d_); }

  Vec posterior_mean(const double* t) const {
    Vec out = mean_;
    for (Index j = 0; j < d_; ++j) out[j] = (strength_ * mean_[j] + t[1 + j]) / (strength_ + count(t));
    return out;
  }

  // Σ x̃x̃ᵀ + κ mmᵀ − κ̂ m̂m̂ᵀ. Its diagonal is not negative, which is enforced against rounding.
  Vec moment_around_mean(const double* t) const {
    Vec out(t + 1 + d_, t + n_features());
    variance_.outer(strength_, mean_.data(), out.data());
    variance_.outer(-(strength_ + count(t)), posterior_mean(t).data(), out.data());
    if (prior_.shape == TiedShape::full)
      for (Index i = 0; i < d_; ++i) out[i * (i + 3) / 2] = std::max(out[i * (i + 3) / 2], 0.0);
    else
      for (double& v : out) v = std::max(v, 0.0);
    return out;
  }

  // w = natural weights of N(m, Σ).
  void around(const Vec& m, double* w) const {
    const Vec pull = variance_.precision_times(m);
    w[0] = row_constant_ - 0.5 * dot(m, pull);
    std::copy(pull.begin(), pull.end(), w + 1);
    std::copy(moment_weights_.begin(), moment_weights_.end(), w + 1 + d_);
  }

  NamedArray mean_array(const double* t, Index k) const {
    return bnpvi::mean_array(columns_, k, [&](Index i) { return posterior_mean(t + i * n_features()); });
  }

  NamedArray covariance_array(Index k) const {
    Vec cov = variance_.covariance();
    for (Index i = 0; i < d_; ++i)
      for (Index j = 0; j < d_; ++j) cov[i * d_ + j] *= columns_.unit[i] * columns_.unit[j];
    NamedArray out{"cov", {}, {d_, d_, k}};
    for (Index i = 0; i < k; ++i) out.value.insert(out.value.end(), cov.begin(), cov.end());
    return out;
  }

  TiedPrior prior_;
  Index d_;
  double strength_;
  Columns columns_;
  TiedVariance variance_;
  Vec mean_, moment_weights_;
  double row_constant_ = 0;
};

}  // namespace

std::unique_ptr<ObsModel> make_gaussian_tied(const Fields& f) {
  const Index d = columns_of(f);
  return std::make_unique<GaussianTied>(tied_prior(f, TiedShape::full, d * d));
}

std::unique_ptr<ObsModel> make_gaussian_tied_diagonal(const Fields& f) {
  return std::make_unique<GaussianTied>(tied_prior(f, TiedShape::diagonal, columns_of(f)));
}

std::unique_ptr<ObsModel> make_gaussian_tied_spherical(const Fields& f) {
  return std::make_unique<GaussianTied>(tied_prior(f, TiedShape::spherical, 1));
}

}  // namespace bnpvi
