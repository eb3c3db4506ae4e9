#include "dynamics/emission.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "observations/linalg.h"

namespace bnpvi::dynamics {

EmissionPrior EmissionPrior::of_mode(int name) const {
  EmissionPrior out = *this;
  out.known_by_mode.clear();
  if (name > 0) out.known.assign(known_by_mode.begin() + (name - 1) * d, known_by_mode.begin() + name * d);
  return out;
}

void EmissionStatistics::add(const EmissionStatistics& other, double scale) {
  for (std::size_t i = 0; i < count.size(); ++i) count[i] += scale * other.count[i];
  for (std::size_t i = 0; i < moment.size(); ++i) moment[i] += scale * other.moment[i];
}

void EmissionStatistics::add_row(const EmissionPrior& prior, const double* y, const double* mean,
                                 const double* var, double weight) {
  const Index m = prior.m, q = prior.n_moments();
  for (Index j = 0; j < prior.d; ++j) {
    if (std::isnan(y[j])) continue;
    count[j] += weight;
    double* s = moment.data() + j * q;
    if (prior.identity) {
      const double away = y[j] - mean[j];
      s[0] += weight * (away * away + var[packed(j, j)]);
      continue;
    }
    for (Index a = 0; a < m; ++a)
      for (Index b = 0; b <= a; ++b) s[packed(a, b)] += weight * (mean[a] * mean[b] + var[packed(a, b)]);
    for (Index b = 0; b < m; ++b) s[packed(m, b)] += weight * mean[b];
    s[packed(m, m)] += weight;
    for (Index b = 0; b < m; ++b) s[packed(m + 1, b)] += weight * y[j] * mean[b];
    s[packed(m + 1, m)] += weight * y[j];
    s[packed(m + 1, m + 1)] += weight * y[j] * y[j];
  }
}

Emission::Emission(const EmissionPrior& prior, const EmissionStatistics& statistics)
    : prior_(prior),
      w_(static_cast<std::size_t>(prior.d)),
      c_(static_cast<std::size_t>(prior.d * prior.e())),
      inverse_(static_cast<std::size_t>(prior.d * prior.e() * prior.e())),
      scale_(prior.known.empty() ? prior.scale : prior.known) {
  if (prior.known.empty()) df_.assign(static_cast<std::size_t>(prior.d), prior.df);
  for (Index j = 0; j < prior.d; ++j) solve_column(j, statistics);
  fill_potentials();
}

// With V̂ = V + Σ (x, 1)(x, 1)' and the residual S = Σ y² − |L_V̂⁻¹ Σ y (x, 1)|²:
//   learned  Λ = log Z(ν + N, B + S, V̂) − log Z(ν, B, V) − (N/2) log 2π, log Z as in obs_wishart.h with D =
//   1; known    Λ = −(N/2) log 2πR − S/2R + ½ log|V| − ½ log|V̂|.
void Emission::solve_column(Index j, const EmissionStatistics& statistics) {
  const Index e = prior_.e();
  const double n = statistics.count[j];
  const double* s = statistics.moment.data() + j * prior_.n_moments();
  double residual = s[0], log_ratio = 0;  // log_ratio: log|V| − log|V̂|
  if (e > 0) {
    Vec v = prior_.precision;
    const double log_det = Cholesky(v.data(), e).log_det(0, e);
    for (Index a = 0; a < e; ++a)
      for (Index b = 0; b <= a; ++b) v[a * e + b] += s[packed(a, b)];
    const Cholesky chol(v.data(), e);
    log_ratio = log_det - chol.log_det(0, e);
    double* c = c_.data() + j * e;
    for (Index a = 0; a < e; ++a) c[a] = s[packed(e, a)];
    chol.solve_lower(c);
    residual = s[packed(e, e)];
    for (Index a = 0; a < e; ++a) residual -= c[a] * c[a];
    for (Index a = 0; a < e; ++a) c[a] = s[packed(e, a)];
    chol.solve(c);
    const Vec l = chol.inverse_factor();
    double* inverse = inverse_.data() + j * e * e;
    for (Index i = 0; i < e; ++i)
      for (Index a = 0; a <= i; ++a)
        for (Index b = 0; b <= i; ++b) inverse[a * e + b] += l[i * e + a] * l[i * e + b];
  }
  residual = std::max(residual, 0.0);
  value_ += 0.5 * log_ratio - 0.5 * n * log_2pi;
  if (!prior_.known.empty()) {
    w_[j] = 1 / prior_.known[j];
    value_ -= 0.5 * n * std::log(prior_.known[j]) + 0.5 * residual / prior_.known[j];
    return;
  }
  const double df = prior_.df, b = prior_.scale[j];
  df_[j] = df + n;
  scale_[j] = b + residual;
  w_[j] = df_[j] / scale_[j];
  value_ += log_gamma(0.5 * df_[j]) - log_gamma(0.5 * df) + 0.5 * n * log_2 -
            0.5 * df_[j] * std::log(scale_[j]) + 0.5 * df * std::log(b);
}

// w has ½ (E log ρ − log 2π) for counts, and −½ times the coefficients of W (y − ĉ'u)² + u'V̂⁻¹u, u = (x, 1),
// for moments.
void Emission::weights(double* w) const {
  const Index d = prior_.d, e = prior_.e(), q = prior_.n_moments();
  for (Index j = 0; j < d; ++j) {
    const double log_rho =
        df_.empty() ? -std::log(scale_[j]) : digamma(0.5 * df_[j]) - std::log(0.5 * scale_[j]);
    w[j] = 0.5 * (log_rho - log_2pi);
    double* at = w + d + j * q;
    at[packed(e, e)] = -0.5 * w_[j];
    if (e == 0) continue;
    const double *c = c_.data() + j * e, *inverse = inverse_.data() + j * e * e;
    for (Index a = 0; a < e; ++a) {
      at[packed(e, a)] = w_[j] * c[a];
      for (Index b = 0; b <= a; ++b)
        at[packed(a, b)] = (a == b ? -0.5 : -1) * (w_[j] * c[a] * c[b] + inverse[a * e + b]);
    }
  }
}

double Emission::expected(const EmissionStatistics& statistics) const {
  const Index e = prior_.e(), q = prior_.n_moments();
  double sum = 0;
  for (Index j = 0; j < prior_.d; ++j) {
    const double log_rho =
        df_.empty() ? -std::log(scale_[j]) : digamma(0.5 * df_[j]) - std::log(0.5 * scale_[j]);
    sum += 0.5 * statistics.count[j] * (log_rho - log_2pi);
    const double *s = statistics.moment.data() + j * q, *c = c_.data() + j * e;
    double square = e > 0 ? s[packed(e, e)] : s[0];  // Σ E (y − ĉ'(x, 1))²
    for (Index a = 0; a < e; ++a) {
      square -= 2 * c[a] * s[packed(e, a)];
      for (Index b = 0; b < e; ++b) {
        square += c[a] * c[b] * s[packed(a, b)];
        sum -= 0.5 * inverse_[(j * e + a) * e + b] * s[packed(a, b)];
      }
    }
    sum -= 0.5 * w_[j] * square;
  }
  return sum;
}

void Emission::fill_potentials() {
  const Index d = prior_.d, m = prior_.m, e = prior_.e();
  f_.assign(static_cast<std::size_t>(d * m * m), 0.0);
  g_.assign(static_cast<std::size_t>(d * m), 0.0);
  f1_ = g_;
  all_f_.assign(static_cast<std::size_t>(m * m), 0.0);
  all_f1_.assign(static_cast<std::size_t>(m), 0.0);
  for (Index j = 0; j < d; ++j) {
    double *f = f_.data() + j * m * m, *g = g_.data() + j * m, *f1 = f1_.data() + j * m;
    if (prior_.identity) {
      f[j * m + j] = g[j] = w_[j];
    } else {
      const double *c = c_.data() + j * e, *v = inverse_.data() + j * e * e;
      for (Index a = 0; a < m; ++a) {
        for (Index b = 0; b < m; ++b) f[a * m + b] = w_[j] * c[a] * c[b] + v[a * e + b];
        g[a] = w_[j] * c[a];
        f1[a] = w_[j] * c[a] * c[m] + v[a * e + m];
      }
    }
    for (Index a = 0; a < m * m; ++a) all_f_[a] += f[a];
    for (Index a = 0; a < m; ++a) all_f1_[a] += f1[a];
  }
}

Emission Emission::with_noise(const double* factor) const {
  Emission out = *this;
  for (std::size_t j = 0; j < w_.size(); ++j) out.w_[j] *= factor[j];
  out.fill_potentials();
  return out;
}

void Emission::add_potential(const double* y, double r, double* precision, double* h) const {
  const Index d = prior_.d, m = prior_.m;
  if (prior_.identity) {
    for (Index j = 0; j < d; ++j) {
      if (std::isnan(y[j])) continue;
      precision[j * m + j] += r * w_[j];
      h[j] += r * w_[j] * y[j];
    }
    return;
  }
  const bool whole = std::none_of(y, y + d, [](double v) { return std::isnan(v); });
  for (Index j = 0; j < d; ++j) {
    if (std::isnan(y[j])) continue;
    for (Index a = 0; a < m; ++a) h[a] += r * g_[j * m + a] * y[j];
    if (whole) continue;
    for (Index a = 0; a < m * m; ++a) precision[a] += r * f_[j * m * m + a];
    for (Index a = 0; a < m; ++a) h[a] -= r * f1_[j * m + a];
  }
  if (!whole) return;
  for (Index a = 0; a < m * m; ++a) precision[a] += r * all_f_[a];
  for (Index a = 0; a < m; ++a) h[a] -= r * all_f1_[a];
}

}  // namespace bnpvi::dynamics
