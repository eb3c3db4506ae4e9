#include "observations/obs_gaussian_drift.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "foundation/interval_search.h"
#include "foundation/special.h"

namespace bnpvi {

namespace {

constexpr double least_drift = 1e-8, most_drift = 1e8;  // range of a learned drift: guesses

// Calls f(i, x̃, 1/ρ) for each row, with x̃ divided by ρ where it is very far out (bring_near).
template <class F>
void for_rows(const Dataset& data, const Columns& columns, const Index* rows, Index n, F f) {
  constexpr Index at_once = 64;  // number of rows: a guess
  const Index d = columns.size();
  Vec x(static_cast<std::size_t>(std::min(n, at_once) * d));
  for (Index from = 0; from < n; from += at_once) {
    const Index size = std::min(at_once, n - from);
    gather(data, columns, rows + from, size, 0, x.data(), d);
    for (Index i = 0; i < size; ++i) {
      double* row = x.data() + i * d;
      const double inverse = bring_near(d, row);
      f(from + i, row, inverse);
    }
  }
}

}  // namespace

GaussianDrift::GaussianDrift(const DriftingGaussianPrior& given)
    : given_(given),
      columns_(given.gaussian.centre, given.gaussian.unit),
      d_(given.full ? columns_.size() : 1),
      blocks_(given.full ? 1 : columns_.size()),
      moments_(blocks_ * packed(d_, 0)),
      path_{given.gaussian.mean, given.gaussian.mean_strength, given.gap},
      scale_(static_cast<std::size_t>(moments_)) {
  for (Index j = 0; j < columns(); ++j)
    path_.mean[j] = (path_.mean[j] - columns_.centre[j]) / columns_.unit[j];
  for (double& step : path_.step) step *= given.drift;
  for (Index b = 0; b < blocks_; ++b)
    for (Index i = 0; i < d_; ++i)
      for (Index j = 0; j <= i; ++j)
        scale_[moment(b, i, j)] = given.gaussian.scale[(b * d_ + i) * d_ + j] / columns_.unit[b * d_ + i] /
                                  columns_.unit[b * d_ + j];
  row_constant_ = columns_.log_jacobian - 0.5 * static_cast<double>(columns()) * log_2pi;
  Vec least;
  for (const Cholesky& chol : factors(scale_)) {
    const Vec pivots = chol.pivots();
    least.insert(least.end(), pivots.begin(), pivots.end());
  }
  least_pivot_ = least;
  const Vec none(static_cast<std::size_t>(n_features()), 0.0);
  log_z_prior_ = log_z(Posterior(*this, none.data()));
}

void GaussianDrift::features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const {
  dense_features(data, rows, n, phi, ld);
  Entries slots;
  entries(data, rows, n, slots);
  for (Index i = 0; i < n; ++i) {
    double* out = phi + i * ld + first_slot();
    std::fill_n(out, n_features() - first_slot(), 0.0);
    for (int e = slots.start[i]; e < slots.start[i + 1]; ++e) out[slots.at[e]] = slots.value[e];
  }
}

void GaussianDrift::dense_features(const Dataset& data, const Index* rows, Index n, double* phi,
                                   Index ld) const {
  for_rows(data, columns_, rows, n, [&](Index i, const double* x, double inverse) {
    double* out = phi + i * ld;
    out[0] = inverse * inverse;
    std::fill_n(out + 1, moments_, 0.0);
    add_square(1, x, out + 1);
  });
}

void GaussianDrift::entries(const Dataset& data, const Index* rows, Index n, Entries& out) const {
  out.start.assign(1, 0);
  out.at.clear();
  out.value.clear();
  for_rows(data, columns_, rows, n, [&](Index i, const double* x, double inverse) {
    const Index s = static_cast<Index>(data.dense[columns() * data.n + rows[i]]) - 1;
    if (s < 0 || s >= path_.times()) throw std::invalid_argument("internal error: a row without a time");
    int at = static_cast<int>(s * (1 + columns()));
    out.at.push_back(at);
    out.value.push_back(inverse * inverse);
    for (Index j = 0; j < columns(); ++j) {
      out.at.push_back(++at);
      out.value.push_back(x[j] * inverse);
    }
    out.start.push_back(static_cast<int>(out.at.size()));
  });
}

Capabilities GaussianDrift::capabilities() const {
  Capabilities out;
  out.far_rows = true;
  out.entries = this;
  out.units = this;
  if (given_.learn) out.prior = this;
  out.times = this;
  return out;
}

double GaussianDrift::strain() const {
  double most = 1;
  for (Index b = 0; b < blocks_; ++b)
    for (Index i = 0; i < d_; ++i) {
      const double m = path_.mean[b * d_ + i];
      const double ratio = (scale_[moment(b, i, i)] + path_.strength * m * m) / least_pivot_[b * d_ + i];
      most = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : std::max(most, ratio);
    }
  return most;
}

void GaussianDrift::re_express(const ObsModel& from, double* t) const {
  const ColumnChange change(same_kind<GaussianDrift>(from).columns_, columns_);
  const Vec &scale = change.scale, &shift = change.shift;
  Vec sum(static_cast<std::size_t>(columns()), 0.0);
  for (Index s = 0; s < path_.times(); ++s) {
    double* slot = t + slot_at(s);
    for (Index j = 0; j < columns(); ++j) {
      sum[j] += slot[1 + j];
      slot[1 + j] = scale[j] * slot[1 + j] + shift[j] * slot[0];
    }
  }
  for (Index b = 0; b < blocks_; ++b)
    for (Index i = b * d_; i < (b + 1) * d_; ++i)
      for (Index j = b * d_; j <= i; ++j) {
        double& value = t[1 + moment(b, i - b * d_, j - b * d_)];
        value = scale[i] * scale[j] * value + scale[i] * shift[j] * sum[i] + shift[i] * scale[j] * sum[j] +
                shift[i] * shift[j] * t[0];
      }
}

std::shared_ptr<const ObsModel> GaussianDrift::learned(const double* t, Index k, PriorSteps,
                                                       Pool* pool) const {
  if (given_.gap.empty() || occupied_clusters(t, k, n_features()) == 0) return nullptr;
  const auto with = [&](double log_drift) {
    DriftingGaussianPrior prior = given_;
    prior.drift = std::exp(log_drift);
    return prior;
  };
  const auto evidence = [&](double log_drift) {
    const GaussianDrift model(with(log_drift));
    Vec each(static_cast<std::size_t>(k));
    for_each_part(pool, k, [&](Index j) { each[j] = model.log_evidence(t + j * n_features()); });
    double sum = 0;
    for (double value : each) sum += value;
    return sum;
  };
  const double now = std::log(given_.drift);
  const double found = maximise_near(evidence, now, std::log(least_drift), std::log(most_drift), 0.5, 1e-9);
  if (found == now || !(evidence(found) > evidence(now))) return nullptr;
  return std::make_shared<GaussianDrift>(with(found));
}

NamedArrays GaussianDrift::learned_fields() const { return {{"drift", {given_.drift}, {}}}; }

double GaussianDrift::log_evidence(const double* t) const { return log_evidence(t, Posterior(*this, t)); }

void GaussianDrift::weights(const double* t, double* w) const {
  Posterior q(*this, t);
  weights(q, w);
}

double GaussianDrift::evidence_and_weights(const double* t, double* w) const {
  Posterior q(*this, t);
  weights(q, w);
  return log_evidence(t, q);
}

GaussianDrift::Posterior::Posterior(const GaussianDrift& model, const double* t)
    : path(model.path_, t + model.first_slot()), df(model.given_.gaussian.df + std::max(t[0], 0.0)) {
  Vec scale = model.scale_;
  for (std::size_t i = 0; i < scale.size(); ++i) scale[i] += t[1 + i];
  path.for_squares([&](double c, const double* x) { model.add_square(c, x, scale.data()); });
  factor = model.factors(scale);
  for (const Cholesky& chol : factor) log_det += chol.log_det(0, model.d_);
}

GaussianDrift::Posterior GaussianDrift::smoothed(const double* t) const {
  Posterior q(*this, t);
  q.path.smooth();
  return q;
}

void GaussianDrift::add_square(double c, const double* x, double* moments) const {
  for (Index b = 0; b < blocks_; ++b, x += d_)
    for (Index i = 0; i < d_; ++i)
      for (Index j = 0; j <= i; ++j) moments[moment(b, i, j)] += c * x[i] * x[j];
}

std::vector<Cholesky> GaussianDrift::factors(const Vec& moments) const {
  std::vector<Cholesky> out;
  Vec a(static_cast<std::size_t>(d_ * d_));
  for (Index b = 0; b < blocks_; ++b) {
    for (Index i = 0; i < d_; ++i)
      for (Index j = 0; j <= i; ++j) a[i * d_ + j] = moments[moment(b, i, j)];
    out.emplace_back(a.data(), d_, least_pivot_.empty() ? nullptr : least_pivot_.data() + b * d_);
  }
  return out;
}

double GaussianDrift::log_z(const Posterior& q) const {
  return 0.5 * q.df * (static_cast<double>(columns()) * log_2 - q.log_det) +
         static_cast<double>(blocks_) * log_multigamma(d_, 0.5 * q.df);
}

double GaussianDrift::log_evidence(const double* t, const Posterior& q) const {
  return 0.5 * static_cast<double>(columns()) * q.path.log_ratio() + log_z(q) - log_z_prior_ +
         t[0] * row_constant_;
}

void GaussianDrift::weights(Posterior& q, double* w) const {
  q.path.smooth();
  natural(q, q.df, static_cast<double>(columns()), w);
  w[0] = row_constant_ + 0.5 * (static_cast<double>(blocks_) * multidigamma(d_, 0.5 * q.df) +
                                static_cast<double>(columns()) * log_2 - q.log_det);
}

void GaussianDrift::natural(const Posterior& q, double df, double spread, double* w) const {
  std::fill_n(w, n_features(), 0.0);
  for (Index b = 0; b < blocks_; ++b) {
    const Vec inverse = q.factor[b].inverse_factor();
    for (Index m = 0; m < d_; ++m)
      for (Index i = 0; i <= m; ++i)
        for (Index j = 0; j <= i; ++j)
          w[1 + moment(b, i, j)] -= (i == j ? 0.5 : 1) * df * inverse[m * d_ + i] * inverse[m * d_ + j];
  }
  for (Index s = 0; s < path_.times(); ++s) {
    double* slot = w + slot_at(s);
    std::copy_n(q.path.mean(s), columns(), slot + 1);
    for (Index b = 0; b < blocks_; ++b) q.factor[b].solve(slot + 1 + b * d_);
    slot[0] = -0.5 * spread * q.path.variance(s);
    for (Index j = 0; j < columns(); ++j) {
      slot[1 + j] *= df;
      slot[0] -= 0.5 * slot[1 + j] * q.path.mean(s)[j];
    }
  }
}

std::unique_ptr<ObsModel> make_gaussian_drift(const Fields& f, bool full) {
  return std::make_unique<GaussianDrift>(
      DriftingGaussianPrior{gaussian_prior(f, full ? ScaleShape::full : ScaleShape::diagonal, true), full,
                            f.number("drift"), f.numbers("gap"), f.optional_flag("learn_drift")});
}

}  // namespace bnpvi
