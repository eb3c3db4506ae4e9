// Urns of Gaussian likelihoods with a matrix-normal–Wishart prior, whose inverses are updated row by row.
#include <algorithm>
#include <cmath>

#include "foundation/special.h"
#include "kernels/kernels.h"
#include "observations/obs_wishart.h"

namespace bnpvi {

namespace {

// Removing a row multiplies the errors of an inverse by up to 1 / (1 − s), and many removals add up. The
// inverse is recomputed from T if 1 − s is below `least_left`, or after `most_removed` removals (guesses;
// test-urn.R checks the digits).
constexpr double least_left = 0x1p-7;
constexpr double most_removed = 1024;

constexpr Index stack_size = 64;  // coordinates up to which scratch is on the stack: a guess

Index packed_length(Index m) { return m * (m + 1) / 2; }

// Returns xᵀA x and writes out = A x, for a symmetric matrix A that is packed with off-diagonal entries
// doubled.
double times(const double* a, Index m, const double* x, double* out) {
  for (Index i = 0; i < m; ++i) {
    const double* row = a + packed(i, 0);
    double sum = 2 * row[i] * x[i];
    for (Index j = 0; j < i; ++j) {
      sum += row[j] * x[j];
      out[j] += row[j] * x[i];
    }
    out[i] = sum;
  }
  double square = 0;
  for (Index i = 0; i < m; ++i) square += x[i] * (out[i] *= 0.5);
  return square;
}

// A += c x xᵀ.
void add_square(double* a, Index m, double c, const double* x) {
  for (Index i = 0; i < m; ++i) {
    double* row = a + packed(i, 0);
    for (Index j = 0; j < i; ++j) row[j] += 2 * c * x[i] * x[j];
    row[i] += c * x[i] * x[i];
  }
}

}  // namespace

struct WishartModel::UrnParts {
  double *t, *inverse, *inverse_v, *rest;
  double& log_det_b() const { return rest[0]; }
  double& constant() const { return rest[1]; }
  double& half_df() const { return rest[2]; }  // (ν̂ + 1)/2
  double& removed() const { return rest[3]; }
};

WishartModel::UrnParts WishartModel::parts_of(double* urn) const {
  double* inverse = urn + n_features();
  double* inverse_v = inverse + packed_length(m_);
  return {urn, inverse, inverse_v, inverse_v + packed_length(e_)};
}

Index WishartModel::urn_size() const { return n_features() + packed_length(m_) + packed_length(e_) + 4; }

void WishartModel::fill_urn(double* urn) const {
  const UrnParts parts = parts_of(urn);
  const Cholesky chol = factorise(urn);
  Vec inverse(static_cast<std::size_t>(packed_length(m_)), 0.0);
  subtract_quadratic(chol, -1, 0, inverse.data());
  std::copy_n(inverse.begin(), packed_length(e_), parts.inverse_v);
  subtract_quadratic(chol, 0, -1, inverse.data());
  std::copy(inverse.begin(), inverse.end(), parts.inverse);
  parts.log_det_b() = chol.log_det(e_, m_);
  parts.removed() = 0;
  set_urn_constant(parts, urn[0]);
}

void WishartModel::set_urn_constant(const UrnParts& urn, double count) const {
  const double h = 0.5 * (df_ + count + 1), d = static_cast<double>(d_);
  urn.half_df() = h;
  urn.constant() =
      0.5 * (d * log_2 - urn.log_det_b()) - log_gamma_difference(h - 0.5 * d, 0.5 * d) + row_constant();
  if (e_ > 0 && constant_regressors()) urn.constant() += (h - 0.5 * d) * std::log1p(urn.inverse_v[0]);
}

void WishartModel::coordinates_of(const double* phi, double* v) const {
  if (offset_ > 0) return row_of_features(phi, offset_, m_, cell_, v);
  for (Index i = 0; i < m_; ++i) v[i] = phi[packed(i, 0)];  // v_0 = 1
}

void WishartModel::refill_urn(double* urn, const double* phi, double sign) const {
  const UrnParts parts = parts_of(urn);
  double stack[2 * stack_size];
  Vec heap(m_ > stack_size ? static_cast<std::size_t>(2 * m_) : 0);
  double *v = heap.empty() ? stack : heap.data(), *product = v + m_;
  coordinates_of(phi, v);
  const double left = 1 + sign * times(parts.inverse, m_, v, product);
  if (sign < 0 && (!(left >= least_left) || ++parts.removed() >= most_removed)) return fill_urn(urn);
  add_square(parts.inverse, m_, -sign / left, product);
  const double left_v = 1 + sign * times(parts.inverse_v, e_, v, product);
  add_square(parts.inverse_v, e_, -sign / left_v, product);
  parts.log_det_b() += std::log(left / left_v);
  set_urn_constant(parts, urn[0]);
}

void WishartModel::urn_predictives(const double* urns, Index k, const double* phi, double* out) const {
  const Kernels& kernel = kernels();
  const Index size = urn_size(), inverse = n_features(), inverse_v = inverse + packed_length(m_),
              rest = inverse_v + packed_length(e_);
  const auto log_of_products = [&](Index at, Index length, double* to) {
    kernel.product_nt(1, k, length, phi + offset_, length, urns + at, size, to, k);
    for (Index j = 0; j < k; ++j) to[j] = 1 + std::max(0.0, to[j]);
    kernel.log_each(k, to, to);
  };
  log_of_products(inverse, packed_length(m_), out);
  for (Index j = 0; j < k; ++j) {
    const double* of = urns + j * size + rest;
    out[j] = of[1] - of[2] * out[j];
  }
  if (constant_regressors()) return;
  Vec log_q(static_cast<std::size_t>(k));
  log_of_products(inverse_v, packed_length(e_), log_q.data());
  for (Index j = 0; j < k; ++j)
    out[j] += (urns[j * size + rest + 2] - 0.5 * static_cast<double>(d_)) * log_q[j];
}

}  // namespace bnpvi
