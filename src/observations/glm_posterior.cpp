#include "observations/glm_posterior.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bnpvi {

namespace {

Vec inverse(const Cholesky& root) {
  const Index e = root.size();
  const Vec l = root.inverse_factor();
  Vec out(static_cast<std::size_t>(e * e), 0.0);
  for (Index k = 0; k < e; ++k)
    for (Index i = 0; i <= k; ++i)
      for (Index j = 0; j <= k; ++j) out[i * e + j] += l[k * e + i] * l[k * e + j];
  return out;
}

double highest(const std::vector<GlmPosterior>& sizes) {
  double top = sizes[0].log_evidence;
  for (const GlmPosterior& one : sizes) top = std::max(top, one.log_evidence);
  return top;
}

}  // namespace

GlmPosteriors::GlmPosteriors(TangentLayout layout, GlmPrior prior)
    : layout_(std::move(layout)),
      prior_(std::move(prior)),
      root_(prior_.precision.data(), layout_.regressors()),
      pivots_(root_.pivots()) {}

// V + S, S being the packed matrix that begins at t.
Vec GlmPosteriors::with_prior(const double* t) const {
  const Index e = layout_.regressors();
  Vec out = prior_.precision;
  for (Index i = 0; i < e; ++i)
    for (Index j = 0; j < e; ++j) out[i * e + j] += t[packed(i, j)];
  return out;
}

GlmPosterior GlmPosteriors::of(const double* t, Index g, bool with_covariance) const {
  const Index e = layout_.regressors();
  const double* linear = t + layout_.linear(g);
  const double* quadratic = t + layout_.quadratic(g);
  const Cholesky root(with_prior(quadratic).data(), e, pivots_.data());
  GlmPosterior out;
  Vec pull(linear, linear + e);
  double at_prior = 0;
  for (Index i = 0; i < e; ++i) {
    double own = 0;
    for (Index j = 0; j < e; ++j) own += quadratic[packed(i, j)] * prior_.mean[j];
    at_prior += prior_.mean[i] * (linear[i] - 0.5 * own);
    pull[i] -= own;
  }
  out.mean = pull;
  root.solve(out.mean.data());
  double gain = 0;
  for (Index i = 0; i < e; ++i) gain += pull[i] * out.mean[i];
  for (Index i = 0; i < e; ++i) out.mean[i] += prior_.mean[i];
  out.log_evidence =
      0.5 * (root_.log_det(0, e) - root.log_det(0, e) + gain) + at_prior + t[layout_.constant(g)];
  if (with_covariance) out.covariance = inverse(root);
  return out;
}

std::vector<GlmPosterior> GlmPosteriors::of_sizes(const double* t, bool with_covariance) const {
  std::vector<GlmPosterior> out;
  for (Index g = 0; g < layout_.sizes(); ++g) out.push_back(of(t, g, with_covariance));
  return out;
}

Vec GlmPosteriors::curved(const double* t, Index g) const {
  return inverse(Cholesky(with_prior(t + layout_.curvature(g)).data(), layout_.regressors(), pivots_.data()));
}

Vec GlmPosteriors::to_users(const Vec& b) const {
  Vec out = b;
  const Index first = layout_.intercept ? 1 : 0;
  for (Index j = first; j < layout_.regressors(); ++j) {
    out[j] /= layout_.unit[j - first];
    if (first == 1) out[0] -= out[j] * layout_.centre[j - 1];
  }
  return out;
}

// H A H': first the columns of H A', then those of H (H A')'.
Vec GlmPosteriors::area_to_users(const Vec& area) const {
  const Index e = layout_.regressors();
  Vec from = area, out(area.size()), one(static_cast<std::size_t>(e));
  for (int side = 0; side < 2; ++side) {
    for (Index i = 0; i < e; ++i) {
      std::copy_n(from.begin() + i * e, e, one.begin());
      const Vec h = to_users(one);
      for (Index j = 0; j < e; ++j) out[j * e + i] = h[j];
    }
    from = out;
  }
  return out;
}

double log_mean_evidence(const std::vector<GlmPosterior>& sizes) {
  if (sizes.size() == 1) return sizes[0].log_evidence;
  const double top = highest(sizes);
  double sum = 0;
  for (const GlmPosterior& one : sizes) sum += std::exp(one.log_evidence - top);
  return top + std::log(sum / static_cast<double>(sizes.size()));
}

Vec shares_of_sizes(const std::vector<GlmPosterior>& sizes) {
  const double top = highest(sizes);
  Vec out;
  double sum = 0;
  for (const GlmPosterior& one : sizes) sum += out.emplace_back(std::exp(one.log_evidence - top));
  for (double& x : out) x /= sum;
  return out;
}

Vec average_mean(const std::vector<GlmPosterior>& sizes, const Vec& share) {
  Vec out(sizes[0].mean.size(), 0.0);
  for (std::size_t g = 0; g < sizes.size(); ++g)
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += share[g] * sizes[g].mean[j];
  return out;
}

}  // namespace bnpvi
