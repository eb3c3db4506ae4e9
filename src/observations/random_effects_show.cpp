// Reported arrays of regressions with random effects, and their predictive.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "foundation/special.h"
#include "observations/random_effects.h"

namespace bnpvi {

namespace {

// Inverse of a symmetric positive definite matrix, d × d.
Vec inverse_of(const Vec& a, Index d) {
  if (d == 0) return {};
  const Vec l = Cholesky(a.data(), d).inverse_factor();
  Vec out(static_cast<std::size_t>(d * d), 0.0);
  for (Index k = 0; k < d; ++k)
    for (Index i = 0; i <= k; ++i)
      for (Index j = 0; j <= k; ++j) out[i * d + j] += l[k * d + i] * l[k * d + j];
  return out;
}

void append(NamedArray& to, const Vec& value) { to.value.insert(to.value.end(), value.begin(), value.end()); }

}  // namespace

NamedArrays RandomEffects::posterior(const double* t, Index k) const {
  const Index q = shape_.q, p = shape_.p, e = regressors();
  NamedArray coef{"coef_mean", {}, {1, e, k}}, coef_cov{"coef_cov", {}, {e, e, k}}, df{"df", {}, {}},
      scale{"scale", {}, {1, 1, k}}, random_df{"random_df", {}, {}},
      random_scale{"random_scale", {}, {q, q, k}}, strength{"random_strength", {}, {}};
  for (Index c = 0; c < k; ++c) {
    const EffectsPosterior a = effects_.posterior(t + c * n_features()),
                           b = noise_.posterior(t + c * n_features());
    append(coef, to_users(fixed(a, b)));
    Vec cov(static_cast<std::size_t>(e * e), 0.0);
    for (Index i = 0; i < q; ++i)
      for (Index j = 0; j < q; ++j)
        cov[shape_.random[i] * e + shape_.random[j]] = a.covariance[i * q + j] / a.precision[0];
    const Vec of_fixed = inverse_of(b.precision, p);
    for (Index i = 0; i < p; ++i)
      for (Index j = 0; j < p; ++j)
        cov[shape_.fixed[i] * e + shape_.fixed[j]] = b.covariance[0] * of_fixed[i * p + j];
    append(coef_cov, area_to_users(cov, false));
    df.value.push_back(b.df);
    scale.value.push_back((shared() ? b.covariance[0] : b.scale[0]) * unit_y() * unit_y());
    random_df.value.push_back(a.df);
    append(random_scale, area_to_users(shared() ? a.covariance : a.scale, true));
    strength.value.push_back(a.precision[0]);
  }
  return {coef, coef_cov, df, scale, random_df, random_scale, strength};
}

NamedArrays RandomEffects::mean_parameters(const double* t, Index k) const {
  const Index q = shape_.q, e = regressors();
  NamedArray coef{"coef", {}, {1, e, k}}, cov{"cov", {}, {1, 1, k}}, random{"random_cov", {}, {q, q, k}};
  for (Index c = 0; c < k; ++c) {
    const EffectsPosterior a = effects_.posterior(t + c * n_features()),
                           b = noise_.posterior(t + c * n_features());
    append(coef, to_users(fixed(a, b)));
    cov.value.push_back(b.covariance[0] * unit_y() * unit_y());
    append(random, area_to_users(a.covariance, true));
  }
  return {coef, cov, random};
}

// With c = (a, b) ~ N(c_0, Λ⁻¹), G = (Z, X)'(Z, X), S = (G/σ² + Λ)⁻¹ and h = (Z, X)'y/σ² + Λ c_0:
//   log p(y) = −(n/2) log 2πσ² − y'y/2σ² + ½ h'S h − ½ c_0'Λ c_0 + ½ log|S| + ½ log|Λ|.
void RandomEffects::predictive(const double* t, const double* sums, Index n, Index ld, double* out) const {
  const Index q = shape_.q, p = shape_.p, e = q + p;
  const EffectsPosterior a = effects_.posterior(t), b = noise_.posterior(t);
  const double noise = b.covariance[0], spread = 1 + 1 / a.precision[0];
  Vec precision(static_cast<std::size_t>(e * e), 0.0), centre = a.coef,
                                                       pull(static_cast<std::size_t>(e), 0.0);
  const Vec of_effects = inverse_of(a.covariance, q);
  for (Index i = 0; i < q; ++i)
    for (Index j = 0; j < q; ++j) precision[i * e + j] = of_effects[i * q + j] / spread;
  for (Index i = 0; i < p; ++i)
    for (Index j = 0; j < p; ++j) precision[(q + i) * e + q + j] = b.precision[i * p + j] / noise;
  centre.insert(centre.end(), b.coef.begin(), b.coef.end());
  double constant = 0.5 * Cholesky(precision.data(), e).log_det(0, e);
  for (Index i = 0; i < e; ++i) {
    for (Index j = 0; j < e; ++j) pull[i] += precision[i * e + j] * centre[j];
    constant -= 0.5 * pull[i] * centre[i];
  }
  Vec joint(precision.size()), h(pull.size());
  for (Index r = 0; r < n; ++r) {
    const double* f = sums + r * ld;
    const auto moment = [&](Index i, Index j) {  // entry i, j of (Z, X)'(Z, X), i ≥ j
      if (i < q) return f[shape_.zz + packed(i, j)];
      return j < q ? f[shape_.zx + j * p + i - q] : f[shape_.moments_of_rows + packed(i - q, j - q)];
    };
    for (Index i = 0; i < e; ++i) {
      for (Index j = 0; j <= i; ++j) joint[i * e + j] = precision[i * e + j] + moment(i, j) / noise;
      h[i] = pull[i] + (i < q ? f[shape_.zy + i] : f[shape_.moments_of_rows + packed(p, i - q)]) / noise;
    }
    const Cholesky chol(joint.data(), e);
    chol.solve_lower(h.data());
    double value = constant - 0.5 * chol.log_det(0, e) -
                   0.5 * f[shape_.moments_of_rows + packed(p, p)] / noise -
                   f[1] * (0.5 * (log_2pi + std::log(noise)) + std::log(unit_y()));
    for (double x : h) value += 0.5 * x * x;
    out[r] = value;
  }
}

void RandomEffects::effects_of(const Dataset& data, const double* t, double log_pi, double* mean,
                               double* covariance, double* log_weight) const {
  const Index q = shape_.q, n = data.n;
  std::vector<Index> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), Index{0});
  Vec sums(static_cast<std::size_t>(n * shape_.sums)), w(static_cast<std::size_t>(n_features()));
  pattern({true})->features(data, rows.data(), n, sums.data(), shape_.sums);
  weights(t, w.data());
  const EffectsStep step(shape_, n, sums.data(), w.data());
  EffectsPosterior a = effects_.posterior(t);
  const EffectsPosterior b = noise_.posterior(t);
  Vec cov(static_cast<std::size_t>(q * q));
  for (Index row = 0; row < n; ++row) {
    log_weight[row] = log_pi + step.log_weight[row];
    for (Index i = 0; i < q; ++i) {
      a.coef[i] = step.mean[row * q + i];
      for (Index j = 0; j < q; ++j) cov[i * q + j] = step.covariance[row * q * (q + 1) / 2 + packed(i, j)];
    }
    const Vec coef = to_users(fixed(a, b)), own = area_to_users(cov, true);
    for (Index i = 0; i < q; ++i) mean[i * n + row] = coef[shape_.random[i]];
    std::copy(own.begin(), own.end(), covariance + row * q * q);
  }
}

std::unique_ptr<ObsModel> make_random_effects(const Fields& f, std::shared_ptr<const ObsModel> of_rows,
                                              Index offset) {
  RandomEffects::Prior prior;
  prior.unit = f.numbers("unit");
  const auto d = static_cast<Index>(prior.unit.size());
  prior.centre = f.numbers("centre", d);
  prior.intercept = f.flag("intercept");
  const Index first = prior.intercept ? 1 : 0, e = d - 1 + first;
  for (double j : f.numbers("effects")) prior.random.push_back(static_cast<Index>(j));
  prior.independent = f.has("independent") && f.flag("independent");
  const EffectsShape shape(e, prior.random);
  const Index q = shape.q, p = shape.p;
  const Vec spread = f.numbers("spread", d - 1), given = f.numbers("coef_mean", e),
            precision = f.numbers("scaled_precision", e * e),
            scale = f.numbers("centred_random_scale", q * q);
  const double y = prior.unit[0];
  const auto unit = [&](Index j) { return j < first ? 1 : prior.unit[1 + j - first]; };
  const auto scaled = [&](Index j) { return j < first ? 1 : spread[j - first] / unit(j); };
  Vec coef(static_cast<std::size_t>(e));
  double intercept = -prior.centre[0];
  for (Index j = first; j < e; ++j) {
    intercept += given[j] * prior.centre[1 + j - first];
    coef[j] = given[j] * (unit(j) / y);
  }
  if (first == 1) coef[0] = (given[0] + intercept) / y;
  prior.effects = {1, q, f.number("random_df"), {}, {precision[shape.random[0] * (e + 1)]}, scale, {}, 0};
  prior.rows = {p, 1, f.number("df"), {}, {}, {f.numbers("scale", 1)[0] / y / y}, {}, -std::log(y)};
  const auto around = [&](Vec area) {
    for (Index i = 0; i < q; ++i)
      for (Index j = 0; j < q; ++j)
        area[i * q + j] *= unit(shape.random[i]) / y * (unit(shape.random[j]) / y);
    return area;
  };
  prior.effects.scale = around(scale);
  if (f.has("shared_cov")) {
    prior.effects.known = around(f.numbers("shared_cov", q * q));
    prior.rows.known = {f.number("shared_noise") / y / y};
  }
  for (Index j : shape.random) prior.effects.coef.push_back(coef[j]);
  for (Index i : shape.fixed) {
    prior.rows.coef.push_back(coef[i]);
    for (Index j : shape.fixed) prior.rows.precision.push_back(precision[i * e + j] * scaled(i) * scaled(j));
  }
  return std::make_unique<RandomEffects>(std::move(prior), std::move(of_rows), offset);
}

}  // namespace bnpvi
