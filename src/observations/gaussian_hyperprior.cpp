#include "observations/gaussian_hyperprior.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "foundation/extrapolation.h"
#include "foundation/special.h"
#include "observations/linalg.h"

namespace bnpvi {

namespace {

constexpr double least_strength = 1e-6, most_strength = 1e2;
constexpr double mean_excess_df = 100;                    // of ν − d + 1
constexpr double least_excess = 1e-3, most_excess = 1e7;  // searched for ν − d + 1
constexpr double floor_of_shape = 1e-6;
constexpr double least_eigenvalue =
    1e-8;                       // of mean precisions, at least (d + 2)/(νK + d + 2) but for rounding
constexpr int cycles = 2;       // of two rounds: a guess
constexpr double farthest = 3;  // change of a logarithm by one extrapolation: a guess

double as_double(Index i) { return static_cast<double>(i); }

void add(Vec& to, const Vec& x) {
  if (to.empty()) to.resize(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) to[i] += x[i];
}

}  // namespace

ExpectedClusters sum_over_clusters(const double* t, Index k, Index p, Pool* pool,
                                   const std::function<ExpectedClusters(const double*)>& expect) {
  std::vector<ExpectedClusters> clusters(static_cast<std::size_t>(k));
  for_each_part(pool, k, [&](Index j) {
    if (t[j * p] > 0) clusters[j] = expect(t + j * p);
  });
  ExpectedClusters out;
  for (const ExpectedClusters& e : clusters) {
    out.evidence += e.evidence;
    out.log_det += e.log_det;
    add(out.precision, e.precision);
    add(out.weighted_offset, e.weighted_offset);
    out.mean_spread += e.mean_spread;
  }
  return out;
}

struct GaussianHyperprior::Point {
  NormalWishart prior;
  ExpectedClusters expected;
  double objective;
};

GaussianHyperprior::GaussianHyperprior(Vec centre, Vec variance, Index d)
    : centre_(std::move(centre)),
      variance_(std::move(variance)),
      d_(d),
      blocks_(static_cast<Index>(variance_.size()) / d) {}

double GaussianHyperprior::log_det(const Vec& shape) const {
  double sum = 0;
  for (Index j = 0; j < blocks_; ++j) sum += Cholesky(shape.data() + j * d_ * d_, d_).log_det(0, d_);
  return sum;
}

double GaussianHyperprior::log_density(const NormalWishart& prior) const {
  const double d = as_double(d_), weight = d + 2;
  double sum = -std::log(mean_excess_df) - (prior.df - d + 1) / mean_excess_df;
  sum += as_double(blocks_) * (0.5 * weight * d * std::log(0.5 * weight) - log_multigamma(d_, 0.5 * weight));
  sum += 0.5 * weight * (log_det(prior.scale) - as_double(blocks_) * d * std::log(prior.df));
  for (std::size_t i = 0; i < variance_.size(); ++i) {
    const std::size_t size = static_cast<std::size_t>(d_), within = i % size;
    const double own = prior.scale[(i - within) * size + within * size + within] / prior.df;
    sum -= 0.5 * weight * (std::log(variance_[i]) + own / variance_[i]);
  }
  if (prior.mean.empty()) return sum;
  sum -= std::log(std::log(most_strength / least_strength));
  for (std::size_t i = 0; i < variance_.size(); ++i) {
    const double e = prior.mean[i] - centre_[i];
    sum -= 0.5 * (log_2pi + e * e / variance_[i]);
  }
  return sum;
}

// m maximises −(κ/2) Σ (m̂_k − m)ᵀ E Λ_k (m̂_k − m) + log p(m); then κ = KD / Σ [D/κ̂_k + ...] at this m.
void GaussianHyperprior::improve_mean(NormalWishart& prior, double k, const ExpectedClusters& e) const {
  double spread = e.mean_spread;
  for (Index j = 0; j < blocks_; ++j) {
    const double* precision = e.precision.data() + j * d_ * d_;
    const double* offset = e.weighted_offset.data() + j * d_;
    Vec sum(precision, precision + d_ * d_), step(static_cast<std::size_t>(d_));
    for (double& value : sum) value *= prior.strength;
    for (Index i = 0; i < d_; ++i) {
      const double v = variance_[j * d_ + i];
      sum[i * d_ + i] += 1 / v;
      step[i] = prior.strength * offset[i] - (prior.mean[j * d_ + i] - centre_[j * d_ + i]) / v;
    }
    Cholesky(sum.data(), d_).solve(step.data());
    for (Index i = 0; i < d_; ++i) {
      prior.mean[j * d_ + i] += step[i];
      spread -= 2 * step[i] * offset[i];
      for (Index l = 0; l < d_; ++l) spread += step[i] * precision[i * d_ + l] * step[l];
    }
  }
  prior.strength =
      std::clamp(k * as_double(blocks_ * d_) / std::max(spread, 0.0), least_strength, most_strength);
}

// Ψ maximises ((νK + d + 2)/2) log|Ψ| − ½ tr Ψ (ν Σ E Λ_k + (d + 2) diag v⁻¹) where it is above its floor:
// with columns in units of √v, by its eigenvalues.
Vec GaussianHyperprior::improved_shape(double df, double k, const ExpectedClusters& e) const {
  const double weight = as_double(d_ + 2), all = df * k + weight;
  Vec shape = e.precision;
  for (Index j = 0; j < blocks_; ++j) {
    double* block = shape.data() + j * d_ * d_;
    scale_by_spread(block, j, 1);
    for (Index i = 0; i < d_ * d_; ++i) block[i] = (df * block[i] + (i % (d_ + 1) == 0 ? weight : 0)) / all;
    map_eigenvalues(block, d_, [](double x) {
      return x * floor_of_shape < 1 ? 1 / std::max(x, least_eigenvalue) : floor_of_shape;
    });
    scale_by_spread(block, j, 1);
  }
  return shape;
}

// Block j times (√v √vᵀ)^sign, entry by entry.
void GaussianHyperprior::scale_by_spread(double* block, Index j, int sign) const {
  for (Index i = 0; i < d_; ++i)
    for (Index l = 0; l < d_; ++l) {
      const double spread = std::sqrt(variance_[j * d_ + i] * variance_[j * d_ + l]);
      block[i * d_ + l] = sign > 0 ? block[i * d_ + l] * spread : block[i * d_ + l] / spread;
    }
}

// The derivative by ν of J K [(νd/2) log(ν/2) − log Γ_d(ν/2)] + (ν/2) [K log|Ψ| + Σ E log|Λ_k| − tr Ψ Σ E
// Λ_k]
// + log p(ν), which is concave, by bisection in log(ν − d + 1).
double GaussianHyperprior::improved_df(const Vec& shape, double k, const ExpectedClusters& e) const {
  const double d = as_double(d_), clusters = k * as_double(blocks_);
  double slope = k * log_det(shape) + e.log_det;
  for (std::size_t i = 0; i < shape.size(); ++i) slope -= shape[i] * e.precision[i];
  double low = std::log(least_excess), high = std::log(most_excess);
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high), half = 0.5 * (std::exp(middle) + d - 1);
    const double rise = clusters * (d * (std::log(half) + 1) - multidigamma(d_, half)) + slope;
    (0.5 * rise > 1 / mean_excess_df ? low : high) = middle;
  }
  return std::exp(0.5 * (low + high)) + d - 1;
}

NormalWishart GaussianHyperprior::next(const NormalWishart& prior, double k,
                                       const ExpectedClusters& e) const {
  NormalWishart out = prior;
  if (!prior.mean.empty()) improve_mean(out, k, e);
  const Vec shape = improved_shape(prior.df, k, e);
  out.df = improved_df(shape, k, e);
  for (std::size_t i = 0; i < shape.size(); ++i) out.scale[i] = out.df * shape[i];
  return out;
}

// (log(ν − d + 1), log κ, logarithms of the matrices Ψ, m), columns in units of √v: any numbers are a prior.
Vec GaussianHyperprior::coordinates(const NormalWishart& prior) const {
  Vec x{std::log(prior.df - as_double(d_) + 1), std::log(prior.strength)}, shape = prior.scale;
  for (double& value : shape) value /= prior.df;
  for (Index j = 0; j < blocks_; ++j) {
    double* block = shape.data() + j * d_ * d_;
    scale_by_spread(block, j, -1);
    map_eigenvalues(block, d_, [](double value) { return std::log(std::max(value, floor_of_shape)); });
  }
  x.insert(x.end(), shape.begin(), shape.end());
  for (std::size_t i = 0; i < prior.mean.size(); ++i) x.push_back(prior.mean[i] / std::sqrt(variance_[i]));
  return x;
}

NormalWishart GaussianHyperprior::from_coordinates(const Vec& x, const NormalWishart& like) const {
  NormalWishart out = like;
  out.df = as_double(d_) - 1 + std::clamp(std::exp(x[0]), least_excess, most_excess);
  out.strength = std::clamp(std::exp(x[1]), least_strength, most_strength);
  std::copy_n(x.begin() + 2, out.scale.size(), out.scale.begin());
  for (Index j = 0; j < blocks_; ++j) {
    double* block = out.scale.data() + j * d_ * d_;
    map_eigenvalues(block, d_, [&](double value) {
      return out.df * std::clamp(std::exp(value), floor_of_shape, 1 / floor_of_shape);
    });
    scale_by_spread(block, j, 1);
  }
  for (std::size_t i = 0; i < out.mean.size(); ++i)
    out.mean[i] = x[2 + out.scale.size() + i] * std::sqrt(variance_[i]);
  return out;
}

NormalWishart GaussianHyperprior::learned(const NormalWishart& prior, Index k, const Expect& expect) const {
  const auto at = [&](NormalWishart there) {
    Point out{std::move(there), {}, 0};
    out.expected = expect(out.prior);
    out.objective = out.expected.evidence + log_density(out.prior);
    return out;
  };
  const auto after = [&](const Point& p) { return next(p.prior, as_double(k), p.expected); };
  Point best = at(prior);
  for (int cycle = 0; cycle < cycles; ++cycle) {
    const Point first = at(after(best));
    Point second = at(after(first));
    const auto x =
        extrapolated(coordinates(best.prior), coordinates(first.prior), coordinates(second.prior), farthest);
    best = std::move(second);
    if (!x) continue;
    Point jump = at(from_coordinates(*x, best.prior));
    if (jump.objective > best.objective) best = std::move(jump);
  }
  return best.prior;
}

}  // namespace bnpvi
