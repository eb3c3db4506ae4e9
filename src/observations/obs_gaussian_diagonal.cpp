#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "kernels/kernels.h"
#include "observations/gaussian_arrays.h"
#include "observations/gaussian_prior.h"
#include "observations/obs_models.h"

namespace bnpvi {

namespace {

// φ = (1, x̃, x̃², [δ]). Every coordinate is a one-dimensional Normal–Wishart model with its own mean and
// scale, and with κ and ν of the prior in common.
class GaussianDiagonal final : public WithGaussianPrior<GaussianDiagonal, ObsModel>,
                               public ColumnUnits,
                               public Gaps,
                               public Urn {
 public:
  explicit GaussianDiagonal(const GaussianPrior& given)
      : GaussianDiagonal(OwnGaussianPrior(given, ScaleShape::diagonal),
                         Columns(given.centre, given.unit, given.rounding), given.gaps) {}
  GaussianDiagonal(const GaussianDiagonal& like, const NormalWishart& prior)
      : GaussianDiagonal(OwnGaussianPrior(prior), like.columns_, static_cast<bool>(like.gaps_)) {}

  /// Expectations under a cluster's posterior for the update of the prior, over columns in which it has
  /// cells.
  ExpectedClusters expected_cluster(const double* t) const {
    const Posterior q = update(t);
    ExpectedClusters out{log_evidence(t), {}, {}, {}, 0};
    for (Index j = 0; j < d_; ++j) {
      const double count = gaps_.count(t, j), used = count > 0 ? 1 : 0;
      const double precision = used * df(t, j) / q.scale[j], offset = q.mean[j] - mean_[j];
      out.used.push_back(used);
      out.precision.push_back(precision);
      out.weighted_offset.push_back(precision * offset);
      out.mean_spread += used / (strength_ + count) + precision * offset * offset;
    }
    return out;
  }

  double occupied_term(const double* t) const override {
    double sum = 0;
    for (Index j = 0; j < d_; ++j)
      if (gaps_.count(t, j) > 0) sum += term_of_block(j);
    return sum;
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
      for (Index j = 1; j <= d_; ++j) f[d_ + j] = f[j] * f[j], f[j] *= inverse;
      for (Index j = 0; j < d_ && !columns_.cell.empty(); ++j) f[1 + d_ + j] += columns_.cell[j] * f[0];
    }
    gaps_.mark(n, phi, ld, 1, 2, [](const double* f) { return f[0]; });
  }

  void from_complete(const ObsModel&, const double* complete_t, double* t) const override {
    gaps_.from_complete(complete_t, t);
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
    const ColumnChange change(same_kind<GaussianDiagonal>(from).columns_, columns_);
    for (Index j = 0; j < d_; ++j) {
      const double scale = change.scale[j], shift = change.shift[j];
      double &sum = t[1 + j], &square = t[1 + d_ + j];
      const double n = t[gaps_.at(j)];
      square = scale * scale * square + shift * (2 * scale * sum + shift * n);
      sum = scale * sum + shift * n;
    }
  }

  double log_evidence(const double* t) const override {
    double value = log_z(t, update(t).scale) - log_z_prior_;
    if (!gaps_) return value + t[0] * row_constant_;
    for (Index j = 0; j < d_; ++j) value += t[gaps_.at(j)] * cell_constant(j);
    return value;
  }

  void weights(const double* t, double* w) const override {
    const Posterior q = update(t);
    const auto of_count = [this](double n) { return digamma(0.5 * (df_ + n)) + log_2 - 1 / (strength_ + n); };
    begin_weights(w);
    if (!gaps_) w[0] += 0.5 * gaps_.sum(t, of_count);
    for (Index j = 0; j < d_; ++j) {
      const double precision = df(t, j) / q.scale[j];
      double& constant = w[gaps_.at(j)];
      if (gaps_) constant += 0.5 * of_count(gaps_.count(t, j));
      constant -= 0.5 * (std::log(q.scale[j]) + precision * q.mean[j] * q.mean[j]);
      w[1 + j] = precision * q.mean[j];
      w[1 + d_ + j] = -0.5 * precision;
    }
  }

  // N(m̂, B̂/ν̂), as for full covariances, times the fraction of rows that have the cell.
  void point_estimate(const double* t, double* mean, double* w) const override {
    const Posterior q = update(t);
    mean[0] = 1;
    begin_weights(w);
    for (Index j = 0; j < d_; ++j) {
      const double variance = q.scale[j] / df(t, j), share = gaps_.share(t, j);
      mean[gaps_.at(j)] = share;
      mean[1 + j] = share * q.mean[j];
      mean[1 + d_ + j] = share * (variance + q.mean[j] * q.mean[j]);
      w[gaps_.at(j)] -= 0.5 * (std::log(variance) + q.mean[j] * q.mean[j] / variance);
      w[1 + j] = q.mean[j] / variance;
      w[1 + d_ + j] = -0.5 / variance;
    }
  }

  // λ ~ Gamma(ν̂/2, rate B̂/2), μ | λ ~ N(m̂, 1/(κ̂λ)) in each column.
  void draw(const double* t, Stream& stream, double* w) const override {
    const Posterior q = update(t);
    begin_weights(w);
    for (Index j = 0; j < d_; ++j) {
      const double log_precision = draw_log_gamma(0.5 * df(t, j), stream) + log_2 - std::log(q.scale[j]);
      const double precision = std::exp(log_precision);
      const double mean =
          q.mean[j] + draw_normal(stream) / std::sqrt(precision * (strength_ + gaps_.count(t, j)));
      w[gaps_.at(j)] += 0.5 * (log_precision - precision * mean * mean);
      w[1 + j] = precision * mean;
      w[1 + d_ + j] = -0.5 * precision;
    }
  }

  /// Only without gaps: T, means m̂, κ̂/((κ̂ + 1) B̂_j), (ν̂ + 1)/2, and the part that does not depend on
  /// the row.
  Index urn_size() const override { return n_features() + 2 * d_ + 2; }
  void fill_urn(double* urn) const override {
    const Posterior q = update(urn);
    double* rest = urn + n_features();
    const double n = gaps_.count(urn, 0);
    rest[2 * d_] = 0.5 * (df_ + n + 1);
    rest[2 * d_ + 1] = row_constant_ + static_cast<double>(d_) * of_count(n);
    for (Index j = 0; j < d_; ++j) {
      rest[j] = q.mean[j];
      rest[d_ + j] = shrink(n) / q.scale[j];
      rest[2 * d_ + 1] -= 0.5 * std::log(q.scale[j]);
    }
  }
  void urn_predictives(const double* urns, Index k, const double* phi, double* out) const override {
    Vec term(static_cast<std::size_t>(k * d_));
    for (Index i = 0; i < k; ++i) {
      const double *mean = urns + i * urn_size() + n_features(), *ratio = mean + d_;
      for (Index j = 0; j < d_; ++j) {
        const double e = phi[1 + j] - mean[j];
        term[i * d_ + j] = 1 + ratio[j] * e * e;
      }
    }
    kernels().log_each(k * d_, term.data(), term.data());
    for (Index i = 0; i < k; ++i) {
      const double* rest = urns + (i + 1) * urn_size() - 2;
      out[i] = rest[1] - rest[0] * std::accumulate(term.begin() + i * d_, term.begin() + (i + 1) * d_, 0.0);
    }
  }

  // A product of Student-t densities.
  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    const Posterior q = update(t);
    double all_cells = row_constant_ + gaps_.sum(t, [this](double n) { return of_count(n); });
    for (Index j = 0; j < d_; ++j) all_cells -= 0.5 * std::log(q.scale[j]);
    for (Index i = 0; i < n; ++i) {
      const double* f = phi + i * ld;
      out[i] = all_cells;
      double sum = 0;
      for (Index j = 0; j < d_; ++j) {
        const double count = gaps_.count(t, j);
        if (f[gaps_.at(j)] == 0) {
          out[i] -= cell_constant(j) + of_count(count) - 0.5 * std::log(q.scale[j]);
          continue;
        }
        const double e = f[1 + j] / f[0] - q.mean[j], ratio = shrink(count) / q.scale[j];
        sum += (gaps_ ? df_ + count + 1 : 1) * (std::abs(e) < 1e100
                                                    ? std::log1p(shrink(count) * e * e / q.scale[j])
                                                    : std::log(ratio) + 2 * std::log(std::abs(e)));
      }
      out[i] -= 0.5 * (gaps_ ? 1 : df_ + gaps_.count(t, 0) + 1) * sum;
    }
  }

  NamedArrays posterior(const double* t, Index k) const override {
    const auto count = [&](Index i, Index j) { return t[i * n_features() + gaps_.at(j)]; };
    const auto strength = [&](Index i, Index j) { return strength_ + count(i, j); };
    const auto df = [&](Index i, Index j) { return df_ + count(i, j); };
    return {mean_array(t, k), counted_array("mean_strength", gaps_, k, d_, strength),
            counted_array("df", gaps_, k, d_, df), scale_array(t, k)};
  }

  NamedArrays mean_parameters(const double* t, Index k) const override {
    const NamedArray scale = scale_array(t, k);
    return {mean_array(t, k), diagonal_covariances(
                                  d_, k, [&](Index i, Index j) { return scale.value[i + k * j]; },
                                  [&](Index i, Index j) { return df_ + t[i * n_features() + gaps_.at(j)]; })};
  }

 private:
  GaussianDiagonal(OwnGaussianPrior own, const Columns& columns, bool gaps)
      : WithGaussianPrior(std::move(own)),
        d_(static_cast<Index>(prior().mean.size())),
        strength_(prior().strength),
        df_(prior().df),
        mean_(prior().mean),
        scale_(prior().scale),
        columns_(columns),
        gaps_(gaps, d_, 1 + 2 * d_) {
    row_constant_ = columns_.log_jacobian - 0.5 * static_cast<double>(d_) * log_2pi;
    const Vec none(static_cast<std::size_t>(n_features()), 0.0);
    log_z_prior_ = log_z(none.data(), scale_);
  }

  struct Posterior {
    Vec mean, scale;
  };

  // κ̂_j ≥ κ, ν̂_j ≥ ν and B̂ ≥ B hold in exact arithmetic and are enforced against rounding.
  Posterior update(const double* t) const {
    Posterior q{mean_, scale_};
    for (Index j = 0; j < d_; ++j) {
      const double strength = strength_ + gaps_.count(t, j);
      q.mean[j] = (strength_ * mean_[j] + t[1 + j]) / strength;
      const double spread =
          t[1 + d_ + j] + strength_ * mean_[j] * mean_[j] - strength * q.mean[j] * q.mean[j];
      q.scale[j] += std::max(spread, 0.0);
    }
    return q;
  }
  double df(const double* t, Index j) const { return df_ + gaps_.count(t, j); }
  // What a column with n cells contributes to the constant of a predictive, apart from its scale.
  double of_count(double n) const {
    return log_gamma(0.5 * (df_ + n + 1)) - log_gamma(0.5 * (df_ + n)) + 0.5 * (log_2 + std::log(shrink(n)));
  }
  double shrink(double n) const { return (strength_ + n) / (strength_ + n + 1); }

  // The log of the density's constant factor for column j: its unit and 2π. row_constant_ is the sum over
  // columns.
  double cell_constant(Index j) const { return -std::log(columns_.unit[j]) - 0.5 * log_2pi; }

  // Sets the parts of the weights of counts that are the same for all clusters, and 0 elsewhere.
  void begin_weights(double* w) const {
    std::fill_n(w, n_features(), 0.0);
    if (!gaps_) w[0] = row_constant_;
    for (Index j = 0; gaps_ && j < d_; ++j) w[gaps_.at(j)] = cell_constant(j);
  }

  double log_z(const double* t, const Vec& scale) const {
    double sum = gaps_.sum(t, [this](double n) {
      return 0.5 * (df_ + n) * log_2 + log_gamma(0.5 * (df_ + n)) - 0.5 * std::log(strength_ + n);
    });
    for (Index j = 0; j < d_; ++j) sum -= 0.5 * df(t, j) * std::log(scale[j]);
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
  ColumnGaps gaps_;
  double row_constant_, log_z_prior_;
};

}  // namespace

std::unique_ptr<ObsModel> make_gaussian_diagonal(const Fields& f) {
  if (f.has("drift")) return make_gaussian_drift(f, false);
  return std::make_unique<GaussianDiagonal>(gaussian_prior(f, ScaleShape::diagonal, true));
}

}  // namespace bnpvi
