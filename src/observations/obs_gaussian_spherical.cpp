#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "kernels/kernels.h"
#include "observations/capabilities.h"
#include "observations/gaussian_arrays.h"
#include "observations/gaussian_prior.h"
#include "observations/obs_models.h"

namespace bnpvi {

namespace {

// φ = (1, x̃, |x̃|², [δ]), with the same unit for all columns. The prior μ ~ N(m, 1/(κλ)),
// λ ~ Gamma(ν/2, B/2) has the posterior
//   κ̂_j = κ + N_j,   m̂ = (κm + S)/κ̂,   ν̂ = ν + Σ N_j,   B̂ = B + Σ|x̃|² + κ|m|² − Σ κ̂_j m̂_j².
class GaussianSpherical final : public WithGaussianPrior<GaussianSpherical, ObsModel>,
                                public ColumnUnits,
                                public Gaps,
                                public Urn {
 public:
  explicit GaussianSpherical(const GaussianPrior& given)
      : GaussianSpherical(OwnGaussianPrior(given, ScaleShape::spherical),
                          Columns(given.centre, given.unit, given.rounding), given.gaps) {
    if (std::any_of(given.unit.begin(), given.unit.end(), [&](double u) { return u != given.unit[0]; }))
      throw std::invalid_argument("spherical clusters need one unit for all columns");
  }
  GaussianSpherical(const GaussianSpherical& like, const NormalWishart& prior)
      : GaussianSpherical(OwnGaussianPrior(prior), like.columns_, static_cast<bool>(like.gaps_)) {}

  /// Expectations under a cluster's posterior for the update of the prior.
  ExpectedClusters expected_cluster(const double* t) const {
    const Posterior q = update(t);
    const double precision = q.df / q.scale;
    ExpectedClusters out{log_evidence(t), {1.0}, {precision}, {}, gaps_.sum_of_inverse(t, strength_)};
    for (Index j = 0; j < d_; ++j) {
      const double offset = q.mean[j] - mean_[j];
      out.weighted_offset.push_back(precision * offset);
      out.mean_spread += precision * offset * offset;
    }
    return out;
  }

  Index n_features() const override { return gaps_.n_features(); }
  Index n_columns() const override { return d_; }
  Capabilities capabilities() const override {
    Capabilities out = WithGaussianPrior::capabilities();
    out.far_rows = true;
    out.units = this;
    if (gaps_)
      out.gaps = this;
    else if (columns_.cell.empty())
      out.urn = this;
    return out;
  }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    gather(data, columns_, rows, n, 0, phi + 1, ld);
    for (Index i = 0; i < n; ++i) {
      double* f = phi + i * ld;
      const double inverse = bring_near(d_, f + 1);
      f[0] = inverse * inverse;
      f[1 + d_] = 0;
      for (Index j = 1; j <= d_; ++j)
        if (!gaps_ || !std::isnan(f[j])) f[1 + d_] += f[j] * f[j] + cell(j - 1) * f[0], f[j] *= inverse;
    }
    gaps_.mark(n, phi, ld, 1, 1, [](const double* f) { return f[0]; });
  }

  void from_complete(const ObsModel&, const double* complete_t, double* t) const override {
    gaps_.from_complete(complete_t, t);
  }

  double strain() const override {
    const double ratio = 1 + strength_ * square(mean_) / scale_;
    return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
  }

  void re_express(const ObsModel& from, double* t) const override {
    const ColumnChange change(same_kind<GaussianSpherical>(from).columns_, columns_);
    const double scale = change.scale[0];
    double& sum_of_squares = t[1 + d_];
    sum_of_squares *= scale * scale;
    for (Index j = 0; j < d_; ++j) {
      const double shift = change.shift[j], n = t[gaps_.at(j)];
      sum_of_squares += shift * (2 * scale * t[1 + j] + shift * n);
      t[1 + j] = scale * t[1 + j] + shift * n;
    }
  }

  double log_evidence(const double* t) const override {
    double value = log_z(t, update(t).scale) - log_z_prior_;
    if (!gaps_) return value + t[0] * row_constant_;
    for (Index j = 0; j < d_; ++j) value += t[gaps_.at(j)] * row_constant_ / d();
    return value;
  }

  void weights(const double* t, double* w) const override {
    const Posterior q = update(t);
    natural(q, q.df / q.scale, w);
    for_counts(t, [&](Index at, double n, double cells) {
      w[at] += row_constant_ * (cells / d()) +
               0.5 * cells * (digamma(0.5 * q.df) + log_2 - 1 / (strength_ + n) - std::log(q.scale));
    });
  }

  // N(m̂, B̂/ν̂), as for other covariances, times the fraction of rows that have the cell.
  void point_estimate(const double* t, double* mean, double* w) const override {
    const Posterior q = update(t);
    const double variance = q.scale / q.df;
    mean[0] = 1;
    std::copy(q.mean.begin(), q.mean.end(), mean + 1);
    mean[1 + d_] = square(q.mean) + d() * variance;
    natural(q, 1 / variance, w);
    for_counts(t, [&](Index at, double, double cells) {
      w[at] += row_constant_ * (cells / d()) - 0.5 * cells * std::log(variance);
    });
    if (!gaps_) return;
    mean[1 + d_] = 0;
    for (Index j = 0; j < d_; ++j) {
      const double share = gaps_.share(t, j);
      mean[gaps_.at(j)] = share;
      mean[1 + j] = share * q.mean[j];
      mean[1 + d_] += share * (q.mean[j] * q.mean[j] + variance);
    }
  }

  void draw(const double* t, Stream& stream, double* w) const override {
    Posterior q = update(t);
    const double log_precision = draw_log_gamma(0.5 * q.df, stream) + log_2 - std::log(q.scale);
    const double precision = std::exp(log_precision);
    for (Index j = 0; j < d_; ++j)
      q.mean[j] += draw_normal(stream) / std::sqrt(precision * (strength_ + gaps_.count(t, j)));
    natural(q, precision, w);
    for_counts(t, [&](Index at, double, double cells) {
      w[at] += row_constant_ * (cells / d()) + 0.5 * cells * log_precision;
    });
  }

  /// Only without gaps: T, the mean m̂, κ̂/((κ̂ + 1) B̂), (ν̂ + D)/2, and the part that does not depend on
  /// the row.
  Index urn_size() const override { return n_features() + d_ + 3; }
  void fill_urn(double* urn) const override {
    const Posterior q = update(urn);
    double* rest = std::copy(q.mean.begin(), q.mean.end(), urn + n_features());
    rest[0] = shrink_of(urn, 0) / q.scale;
    rest[1] = 0.5 * (q.df + d());
    rest[2] = predictive_constant(q, shrink_of(urn, 0));
  }
  void urn_predictives(const double* urns, Index k, const double* phi, double* out) const override {
    for (Index i = 0; i < k; ++i) {
      const double *mean = urns + i * urn_size() + n_features(), *rest = mean + d_;
      double sum = 0;
      for (Index j = 0; j < d_; ++j) sum += (phi[1 + j] - mean[j]) * (phi[1 + j] - mean[j]);
      out[i] = 1 + rest[0] * sum;
    }
    kernels().log_each(k, out, out);
    for (Index i = 0; i < k; ++i) {
      const double* rest = urns + (i + 1) * urn_size() - 2;
      out[i] = rest[1] - rest[0] * out[i];
    }
  }

  // Multivariate Student-t, of the observed cells.
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    const Posterior q = update(t);
    if (gaps_) return log_predictive_of_cells(q, t, phi, n, ld, out);
    const double shrink = shrink_of(t, 0), constant = predictive_constant(q, shrink);
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
    NamedArray df{"df", {}, {}}, scale{"scale", {}, {}};
    for (Index i = 0; i < k; ++i) {
      const Posterior q = update(t + i * n_features());
      df.value.push_back(q.df);
      scale.value.push_back(q.scale * columns_.unit[0] * columns_.unit[0]);
    }
    const auto mean_of = [&](Index i) { return update(t + i * n_features()).mean; };
    const auto strength = [&](Index i, Index j) { return strength_ + gaps_.count(t + i * n_features(), j); };
    return {mean_array(columns_, k, mean_of), counted_array("mean_strength", gaps_, k, d_, strength), df,
            scale};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    const NamedArrays q = posterior(t, k);
    return {q[0], diagonal_covariances(
                      d_, k, [&](Index i, Index) { return q[3].value[i]; },
                      [&](Index i, Index) { return q[2].value[i]; })};
  }

 private:
  GaussianSpherical(OwnGaussianPrior own, const Columns& columns, bool gaps)
      : WithGaussianPrior(std::move(own)),
        d_(static_cast<Index>(prior().mean.size())),
        strength_(prior().strength),
        df_(prior().df),
        scale_(prior().scale.at(0)),
        mean_(prior().mean),
        columns_(columns),
        gaps_(gaps, d_, 2 + d_) {
    row_constant_ = columns_.log_jacobian - 0.5 * d() * log_2pi;
    const Vec none(static_cast<std::size_t>(n_features()), 0.0);
    log_z_prior_ = log_z(none.data(), scale_);
  }

  struct Posterior {
    double df, scale;
    Vec mean;
  };

  // κ̂_j ≥ κ, ν̂ ≥ ν and B̂ ≥ B hold in exact arithmetic and are enforced against rounding.
  Posterior update(const double* t) const {
    Posterior q{df_ + gaps_.sum(t, [](double n) { return n; }), scale_, mean_};
    double around_mean = 0;
    for (Index j = 0; j < d_; ++j) {
      const double strength = strength_ + gaps_.count(t, j);
      q.mean[j] = (strength_ * mean_[j] + t[1 + j]) / strength;
      if (gaps_) around_mean += strength * q.mean[j] * q.mean[j];
    }
    if (!gaps_) around_mean = (strength_ + gaps_.count(t, 0)) * square(q.mean);
    q.scale += std::max(t[1 + d_] + strength_ * square(mean_) - around_mean, 0.0);
    return q;
  }
  double predictive_constant(const Posterior& q, double shrink) const {
    return row_constant_ - log_gamma_difference(0.5 * q.df, 0.5 * d()) +
           0.5 * d() * std::log(2 * shrink / q.scale);
  }
  double shrink_of(const double* t, Index j) const {
    const double strength = strength_ + gaps_.count(t, j);
    return strength / (strength + 1);
  }

  // Calls f(at, count, cells) for each count among the features: its position, its value, and the number of
  // cells of a row that it counts.
  template <class F>
  void for_counts(const double* t, F f) const {
    if (!gaps_) return f(Index{0}, gaps_.count(t, 0), d());
    for (Index j = 0; j < d_; ++j) f(gaps_.at(j), gaps_.count(t, j), 1.0);
  }

  // Rows that are very far out have φ_0 < 1.
  void log_predictive_of_cells(const Posterior& q, const double* t, const double* phi, Index n, Index ld,
                               double* out) const {
    for (Index i = 0; i < n; ++i) {
      const double* f = phi + i * ld;
      double cells = 0, largest = 1, sum = 0;
      out[i] = 0;
      for (Index j = 0; j < d_; ++j) {
        if (f[gaps_.at(j)] == 0) continue;
        ++cells;
        out[i] += row_constant_ / d() + 0.5 * std::log(2 * shrink_of(t, j) / q.scale);
        largest = std::max(largest, std::abs(f[1 + j] / f[0] - q.mean[j]));
      }
      for (Index j = 0; j < d_; ++j) {
        const double e = (f[1 + j] / f[0] - q.mean[j]) / largest;
        if (f[gaps_.at(j)] != 0) sum += shrink_of(t, j) * e * e;
      }
      if (cells == 0) continue;
      const double log_square = 2 * std::log(largest) + std::log(sum / q.scale);
      out[i] -= log_gamma_difference(0.5 * q.df, 0.5 * cells) + 0.5 * (q.df + cells) * log_1p_exp(log_square);
    }
  }

  // Weights of x̃ and |x̃|² under N(m̂, 1/precision); if cells are counted, also −½ precision m̂_j² for the
  // counts.
  void natural(const Posterior& q, double precision, double* w) const {
    std::fill_n(w, n_features(), 0.0);
    for (Index j = 0; j < d_; ++j) {
      w[1 + j] = precision * q.mean[j];
      if (gaps_) w[gaps_.at(j)] = -0.5 * precision * q.mean[j] * q.mean[j];
    }
    w[1 + d_] = -0.5 * precision;
    if (!gaps_) w[0] = -0.5 * precision * square(q.mean);
  }

  double log_z(const double* t, double scale) const {
    const double df = df_ + gaps_.sum(t, [](double n) { return n; });
    return 0.5 * df * (log_2 - std::log(scale)) + log_gamma(0.5 * df) -
           0.5 * gaps_.sum(t, [this](double n) { return std::log(strength_ + n); });
  }

  static double square(const Vec& v) {
    double sum = 0;
    for (double x : v) sum += x * x;
    return sum;
  }
  double d() const { return static_cast<double>(d_); }
  double cell(Index j) const { return columns_.cell.empty() ? 0 : columns_.cell[j]; }

  Index d_;
  double strength_, df_, scale_;
  Vec mean_;
  Columns columns_;
  ColumnGaps gaps_;
  double row_constant_ = 0, log_z_prior_ = 0;
};

}  // namespace

std::unique_ptr<ObsModel> make_gaussian_spherical(const Fields& f) {
  return std::make_unique<GaussianSpherical>(gaussian_prior(f, ScaleShape::spherical, true));
}

}  // namespace bnpvi
