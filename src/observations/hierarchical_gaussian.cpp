#include "observations/hierarchical_gaussian.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "foundation/special.h"
#include "observations/gram.h"
#include "observations/linalg.h"

namespace bnpvi {

namespace {

// Parameters of the priors of the hyperparameters: guesses, to which fits are not sensitive (decisions.md).
constexpr double strength_shape = 0.25, strength_rate = 0.025;
constexpr double rate_shape = 0.2, narrowest = 0.01;
const double price_of_df = std::log(12.0), price_of_kind = std::log(11.0);

double as_double(Index i) { return static_cast<double>(i); }

// KL(Gamma(a, b) ‖ Gamma(a0, b0)).
double gamma_divergence(double a, double b, double a0, double b0) {
  return (a - a0) * digamma(a) - log_gamma(a) + log_gamma(a0) + a0 * (std::log(b) - std::log(b0)) +
         a * (b0 - b) / b;
}

double log_det(const double* a, Index d) { return Cholesky(a, d).log_det(0, d); }

void invert(double* a, Index d) {
  const Vec root = Cholesky(a, d).inverse_factor();
  std::fill_n(a, d * d, 0.0);
  add_inner_gram(root.data(), d, d, a);
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < i; ++j) a[j * d + i] = a[i * d + j];
}

double product(const double* a, const double* b, Index n) { return std::inner_product(a, a + n, b, 0.0); }

}  // namespace

ExpectedClusters sum_over_clusters(const double* t, Index k, Index p, Pool* pool,
                                   const std::function<ExpectedClusters(const double*)>& expect) {
  const auto add = [](Vec& to, const Vec& x) {
    to.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) to[i] += x[i];
  };
  std::vector<ExpectedClusters> clusters(static_cast<std::size_t>(k));
  for_each_part(pool, k, [&](Index j) {
    if (t[j * p] > 0) clusters[j] = expect(t + j * p);
  });
  ExpectedClusters out;
  for (Index j = 0; j < k; ++j) {
    if (!(t[j * p] > 0)) continue;
    const ExpectedClusters& e = clusters[j];
    out.evidence += e.evidence;
    add(out.used, e.used);
    add(out.precision, e.precision);
    add(out.weighted_offset, e.weighted_offset);
    out.mean_spread += e.mean_spread;
  }
  return out;
}

// A lower bound of E log|Ψ + F| for a block, and its derivatives by E log|Ψ| or, if Ψ is diagonal, by each E
// log ψ_j.
struct HierarchicalGaussian::Spread {
  double log_det = 0;
  Vec slope;
};

HierarchicalGaussian::HierarchicalGaussian(HyperpriorOfData data)
    : data_(std::move(data)),
      variance_(data_.variance),
      floor_(data_.floor),
      d_(data_.d),
      blocks_(data_.spherical ? 1 : static_cast<Index>(data_.variance.size()) / data_.d),
      columns_(data_.spherical ? static_cast<Index>(data_.variance.size()) : data_.d),
      regressors_(std::llround(std::sqrt(data_.regressors.size()))) {
  if (!data_.spherical) return;
  for (Vec* x : {&variance_, &floor_})
    *x = {std::accumulate(x->begin(), x->end(), 0.0) / as_double(columns_)};
}

void HierarchicalGaussian::add_mean_variance(const HyperPosterior& q, Index j, double times,
                                             double* to) const {
  const double* s = q.mean_variance.data();
  times *= as_double(regressors_);
  if (data_.spherical)
    for (Index i = 0; i < columns_; ++i) to[0] += times * s[i];
  else
    for (Index i = 0; i < d_ * d_; ++i) to[i] += times * s[j * d_ * d_ + i];
}

NormalWishart HierarchicalGaussian::effective(const HyperPosterior& q) const {
  NormalWishart out{q.mean, q.strength_shape / q.strength_rate, q.df, q.scale};
  if (!data_.given.scale) {
    out.scale = q.shape;
    for (Index i = 0; i < blocks_ * d_; ++i) out.scale[i * d_ + i % d_] += floor_[i];
    for (double& value : out.scale) value *= q.df;
  }
  for (Index j = 0; j < blocks_ && !q.mean.empty(); ++j)
    add_mean_variance(q, j, out.strength, out.scale.data() + j * d_ * d_);
  return out;
}

HierarchicalGaussian::Spread HierarchicalGaussian::spread(const HyperPosterior& q, Index j) const {
  const double* shape = q.shape.data() + j * d_ * d_;
  Spread out;
  if (q.wishart_df == 0) {
    for (Index r = 0; r < d_; ++r) {
      const double half = 0.5 * q.shape_df[j * d_ + r];
      const double u = shape[r * d_ + r] * std::exp(digamma(half) - std::log(half)), f = floor_[j * d_ + r];
      out.log_det += std::log(u + f);
      out.slope.push_back(u / (u + f));
    }
    return out;
  }
  const double d = as_double(d_), half = 0.5 * q.shape_df[0];
  const double u = std::exp((multidigamma(d_, half) - d * std::log(half) + log_det(shape, d_)) / d);
  double log_f = 0;
  for (double f : floor_) log_f += std::log(f) / d;
  const double f = std::exp(log_f);
  return {d * std::log(u + f), {u / (u + f)}};
}

double HierarchicalGaussian::occupied_term(const HyperPosterior& q, Index j) const {
  const double d = as_double(d_);
  Vec scale = effective(q).scale;
  double value = -log_det(scale.data() + j * d_ * d_, d_);
  value += data_.given.scale ? log_det(q.scale.data() + j * d_ * d_, d_)
                             : d * std::log(q.df) + spread(q, j).log_det;
  value *= 0.5 * q.df;
  if (!q.mean.empty() && !data_.given.strength)
    value +=
        0.5 * as_double(columns_ * regressors_) * (digamma(q.strength_shape) - std::log(q.strength_shape));
  return value;
}

double HierarchicalGaussian::log_density(const HyperPosterior& q) const {
  double value = mean_terms(q);
  if (!q.mean.empty() && !data_.given.strength)
    value -= gamma_divergence(q.strength_shape, q.strength_rate, strength_shape, strength_rate);
  if (!data_.given.df) value -= price_of_df;
  if (!data_.given.scale) value += shape_terms(q);
  return value;
}

// −KL(q(m) ‖ p(m)).
double HierarchicalGaussian::mean_terms(const HyperPosterior& q) const {
  if (q.mean.empty() || data_.given.mean) return 0;
  double value = 0;
  const double times = as_double(regressors_);
  for (std::size_t i = 0; i < data_.variance.size(); ++i) {
    const double* mean = q.mean.data() + static_cast<Index>(i) * regressors_;
    const double* location = data_.location.data() + static_cast<Index>(i) * regressors_;
    double square = 0;
    for (Index r = 0; r < regressors_; ++r)
      for (Index s = 0; s < regressors_; ++s)
        square += (mean[r] - location[r]) * data_.regressors[r * regressors_ + s] * (mean[s] - location[s]);
    value += times - square / data_.variance[i] - times * std::log(data_.variance[i]);
  }
  for (Index j = 0; j < blocks_ && !data_.spherical; ++j) {
    const double* s = q.mean_variance.data() + j * d_ * d_;
    value += times * log_det(s, d_);
    for (Index r = 0; r < d_; ++r) value -= times * s[r * d_ + r] / data_.variance[j * d_ + r];
  }
  for (Index i = 0; i < columns_ && data_.spherical; ++i)
    value += std::log(q.mean_variance[i]) - q.mean_variance[i] / data_.variance[i];
  return 0.5 * value;
}

double HierarchicalGaussian::rate_h(Index i, double a) const {
  return rate_shape * narrowest * variance_[i] / a;
}

// E α_i given that Ψ_ii has the mean `shape`.
double HierarchicalGaussian::expected_rate(Index i, double a, double shape) const {
  return (rate_shape + 0.5 * a) / (rate_h(i, a) + 0.5 * shape);
}

// −KL(q(Ψ) q(α) ‖ p(Ψ | α) p(α)), plus the log prior weight of the kind.
double HierarchicalGaussian::shape_terms(const HyperPosterior& q) const {
  double value = d_ > 1 ? -price_of_kind : 0;
  if (q.wishart_df == 0) {
    for (Index i = 0; i < blocks_ * d_; ++i) {
      const double psi = q.shape[i * d_ + i % d_], half = 0.5 * q.shape_df[i];
      value -= gamma_divergence(half, half / psi, 0.5 * diagonal_df, 0.5 * diagonal_df / variance_[i]);
    }
    return value;
  }
  const double d = as_double(d_), a = q.wishart_df, b = q.shape_df[0],
               log_det_mean = log_det(q.shape.data(), d_),
               expected = multidigamma(d_, 0.5 * b) - d * std::log(0.5 * b) + log_det_mean;
  value += 0.5 * (a - d - 1) * expected - 0.5 * a * d * log_2 - log_multigamma(d_, 0.5 * a);
  value -= 0.5 * (b - d - 1) * expected - 0.5 * b * d * (1 + log_2) +
           0.5 * b * (d * std::log(b) - log_det_mean) - log_multigamma(d_, 0.5 * b);
  for (Index i = 0; i < d_; ++i) {
    const double shape = rate_shape + 0.5 * a, rate = shape / q.rate[i];
    value += 0.5 * a * (digamma(shape) - std::log(rate)) - 0.5 * q.rate[i] * q.shape[i * d_ + i] -
             gamma_divergence(shape, rate, rate_shape, rate_h(i, a));
  }
  return value;
}

// Updates q(m) and q(κ):
//   S⁻¹ = diag(1/v) + κ̄ Σ E Λ_k;  m̂ = m̄ + S (κ̄ Σ E Λ_k e_k − (m̄ − c)/v) is the next m̄;
//   k₁ = ¼ + ½ Σ columns E;  k₂ = .025 + ½ Σ [c tr(V V̂_k⁻¹) + tr(e_kᵀ E Λ_k e_k V) + E tr(E Λ_k S)] at the
//   new m̄.
void HierarchicalGaussian::refresh_means(HyperPosterior& q, const ExpectedClusters& e) const {
  const double strength = q.strength_shape / q.strength_rate;
  double spread = e.mean_spread, observed = 0;
  for (Index j = 0; j < blocks_; ++j) {
    observed += e.used[j] * as_double(columns_ * regressors_);
    if (!data_.given.mean) refresh_mean(q, j, strength, e, spread);
    Vec s(static_cast<std::size_t>(d_ * d_), 0.0);
    add_mean_variance(q, j, 1, s.data());
    spread += product(s.data(), e.precision.data() + j * d_ * d_, d_ * d_);
  }
  if (data_.given.strength) return;
  q.strength_shape = strength_shape + 0.5 * observed;
  q.strength_rate = strength_rate + 0.5 * std::max(spread, 0.0);
}

// spread: Σ tr(e_kᵀ E Λ_k e_k V), which is updated for the new mean.
void HierarchicalGaussian::refresh_mean(HyperPosterior& q, Index j, double strength,
                                        const ExpectedClusters& e, double& spread) const {
  const double* precision = e.precision.data() + j * d_ * d_;
  const Index n = regressors_;
  const double* offset = e.weighted_offset.data() + j * columns_ * n;
  const double* location = data_.location.data() + j * columns_ * n;
  const double* variance = data_.variance.data() + j * columns_;
  double* mean = q.mean.data() + j * columns_ * n;
  const auto lambda = [&](Index i, Index l) {
    return data_.spherical ? (i == l ? precision[0] : 0.0) : precision[i * d_ + l];
  };
  Vec steps(static_cast<std::size_t>(n * columns_));  // column by column of m
  for (Index r = 0; r < n; ++r)
    for (Index i = 0; i < columns_; ++i)
      steps[r * columns_ + i] =
          strength * offset[i * n + r] - (mean[i * n + r] - location[i * n + r]) / variance[i];
  if (data_.spherical) {
    for (Index i = 0; i < columns_; ++i) {
      q.mean_variance[i] = 1 / (1 / variance[i] + strength * precision[0]);
      steps[i] *= q.mean_variance[i];
    }
  } else {
    double* s = q.mean_variance.data() + j * d_ * d_;
    for (Index i = 0; i < d_ * d_; ++i) s[i] = strength * precision[i];
    for (Index i = 0; i < d_; ++i) s[i * d_ + i] += 1 / variance[i];
    const Cholesky chol(s, d_);
    for (Index r = 0; r < n; ++r) chol.solve(steps.data() + r * d_);
    invert(s, d_);
  }
  for (Index r = 0; r < n; ++r)
    for (Index c = 0; c < n; ++c) {
      const double v = data_.regressors[r * n + c];
      const double *left = steps.data() + r * columns_, *right = steps.data() + c * columns_;
      for (Index i = 0; i < columns_; ++i) {
        spread -= 2 * v * left[i] * offset[i * n + c];
        for (Index l = 0; l < columns_; ++l) spread += v * left[i] * lambda(i, l) * right[l];
      }
    }
  for (Index r = 0; r < n; ++r)
    for (Index i = 0; i < columns_; ++i) mean[i * n + r] += steps[r * columns_ + i];
}

void HierarchicalGaussian::set_shape_df(HyperPosterior& q, const Vec& used) const {
  if (data_.given.scale) return;
  for (Index j = 0; j < blocks_; ++j) {
    const Vec slope = spread(q, j).slope;
    const double prior = q.wishart_df == 0 ? diagonal_df : q.wishart_df;
    for (std::size_t r = 0; r < slope.size(); ++r)
      q.shape_df[static_cast<std::size_t>(j * d_) + r] = prior + used[j] * q.df * slope[r];
  }
}

// Updates q(Ψ). Diagonal: Ψ̄_j = b_j / (½/v_j + ν Σ E Λ_jj); full: Ψ̄ = b (diag E α + ν Σ E Λ)⁻¹, then E α.
void HierarchicalGaussian::refresh_shape(HyperPosterior& q, const ExpectedClusters& e) const {
  if (data_.given.scale) return;
  set_shape_df(q, e.used);
  if (q.wishart_df == 0) {
    for (Index i = 0; i < blocks_ * d_; ++i)
      q.shape[i * d_ + i % d_] =
          q.shape_df[i] / (diagonal_df / variance_[i] + q.df * e.precision[i * d_ + i % d_]);
    return;
  }
  for (Index i = 0; i < d_ * d_; ++i) q.shape[i] = q.df * e.precision[i];
  for (Index i = 0; i < d_; ++i) q.shape[i * d_ + i] += q.rate[i];
  invert(q.shape.data(), d_);
  for (double& value : q.shape) value *= q.shape_df[0];
  for (Index i = 0; i < d_; ++i) q.rate[i] = expected_rate(i, q.wishart_df, q.shape[i * d_ + i]);
}

HyperPosterior HierarchicalGaussian::refreshed(const HyperPosterior& q, const ExpectedClusters& e) const {
  HyperPosterior out = q;
  if (!q.mean.empty()) refresh_means(out, e);
  refresh_shape(out, e);
  return out;
}

}  // namespace bnpvi
