#include "features/linear_gaussian.h"

#include <Eigen/Dense>
#include <cmath>
#include <stdexcept>

#include "foundation/special.h"

namespace bnpvi::features {

namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const RowMatrix>;

constexpr int most_rounds = 20;    // of q(ρ); the next call goes on: a guess
constexpr double same_rho = 1e-8;  // change of log ρ̄ that ends them

// Columns of one group: their numbers and Σ E z zᵀ over the rows in which they are observed.
struct Group {
  std::vector<Index> columns;
  RowMatrix s_zz, s_zx;
};

std::vector<Group> groups_of(const Rows& rows, const Summary& total) {
  const Index k = total.k, q = total.shape.q;
  std::vector<Group> out(static_cast<std::size_t>(rows.n_groups()));
  for (Index j = 0; j < rows.d; ++j) out[rows.group[j]].columns.push_back(j);
  for (Index g = 0; g < rows.n_groups(); ++g) {
    Group& group = out[g];
    const Index d = static_cast<Index>(group.columns.size());
    if (d == 0) continue;
    group.s_zz.resize(k, k);
    group.s_zx.resize(k, d);
    for (Index i = 0; i < k; ++i) {
      for (Index j = 0; j < k; ++j)
        group.s_zz(i, j) = pair_of(total, i, j, 0) - (g > 0 ? pair_of(total, i, j, g) : 0);
      for (Index j = 0; j < d; ++j) group.s_zx(i, j) = total.extra[i * q + group.columns[j]];
    }
  }
  return out;
}

double kl_of_gammas(double c1, double d1, double c0, double d0) {
  return (c1 - c0) * digamma(c1) - log_gamma(c1) + log_gamma(c0) + c0 * (std::log(d1) - std::log(d0)) +
         c1 * (d0 - d1) / d1;
}

// Computes q(A, σ²) for the q(ρ) in `out`; returns Σ_g D_g tr V_g⁻¹.
double solve(const LinearGaussianPrior& prior, const std::vector<Group>& groups, const Summary& total,
             Loadings& out) {
  const Index k = total.k, d = total.shape.q - 1;
  const double cells = total.scalar[n_cells];
  double trace = 0, explained = 0, value = 0;
  out.m.assign(static_cast<std::size_t>(k * d), 0.0);
  out.v_inverse.assign(groups.size(), {});
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    const double size = static_cast<double>(group.columns.size());
    if (group.columns.empty() || k == 0) continue;
    RowMatrix v = group.s_zz;
    v.diagonal().array() += out.rho;
    const Eigen::LLT<RowMatrix> factor(v);
    if (factor.info() != Eigen::Success || !v.allFinite())
      throw std::domain_error("the loadings' precision is not positive definite in double precision");
    const RowMatrix inverse = factor.solve(RowMatrix::Identity(k, k)), m = factor.solve(group.s_zx);
    value += size / 2 *
             (static_cast<double>(k) * std::log(out.rho) -
              2 * RowMatrix(factor.matrixL()).diagonal().array().log().sum());
    trace += size * inverse.trace();
    explained += m.cwiseProduct(group.s_zx).sum();
    out.v_inverse[g].assign(inverse.data(), inverse.data() + k * k);
    for (Index i = 0; i < k; ++i)
      for (std::size_t j = 0; j < group.columns.size(); ++j)
        out.m[i * d + group.columns[j]] = m(i, static_cast<Index>(j));
  }
  out.k = k;
  out.a = prior.a + cells / 2;
  out.b = prior.b + std::max(0.0, total.scalar[sum_squares] - explained) / 2;
  value += -cells / 2 * log_2pi + prior.a * std::log(prior.b) - out.a * std::log(out.b) + log_gamma(out.a) -
           log_gamma(prior.a);
  if (prior.rho == 0)
    value += static_cast<double>(k * d) / 2 * (digamma(out.c) - std::log(out.d) - std::log(out.rho)) -
             kl_of_gammas(out.c, out.d, prior.c, prior.d);
  out.value = value;
  return trace;
}

}  // namespace

Loadings fit_loadings(const LinearGaussianPrior& prior, const Rows& rows, const Summary& total,
                      const Loadings& warm) {
  const std::vector<Group> groups = groups_of(rows, total);
  Loadings out;
  out.rho = prior.rho > 0 ? prior.rho : warm.rho;
  out.c = prior.c + static_cast<double>(total.k * rows.d) / 2;
  out.d = out.c / out.rho;
  for (int round = 0;; ++round) {
    const double trace = solve(prior, groups, total, out);
    if (prior.rho > 0) break;
    double squares = 0;
    for (double m : out.m) squares += m * m;
    const double d = prior.d + (out.tau() * squares + trace) / 2, rho = out.c / d;
    if (round == most_rounds || std::abs(std::log(rho / out.rho)) < same_rho) break;
    out.d = d;
    out.rho = rho;
  }
  return out;
}

double value_without(const LinearGaussianPrior& prior, const Rows& rows, const Loadings& loadings, Index j) {
  const double* m = loadings.m.data() + j * rows.d;
  Vec variance;
  for (const Vec& inverse : loadings.v_inverse)
    variance.push_back(inverse.empty() ? 1 : inverse[j * loadings.k + j]);
  double value = loadings.value, less_explained = 0;
  for (Index i = 0; i < rows.d; ++i) less_explained += m[i] * m[i] / variance[rows.group[i]];
  for (Index g = 0; g < rows.n_groups(); ++g)
    if (!loadings.v_inverse[g].empty())
      value -= rows.group_size[g] / 2 * (std::log(loadings.rho) + std::log(variance[g]));
  value -= loadings.a * std::log1p(less_explained / 2 / loadings.b);
  if (prior.rho == 0)
    value -= static_cast<double>(rows.d) / 2 *
             (digamma(loadings.c) - std::log(loadings.d) - std::log(loadings.rho));
  return value;
}

void add_gram(const Rows& rows, Loadings& loadings) {
  const Index k = loadings.k;
  const ConstMap m(loadings.m.data(), k, rows.d);
  loadings.gram.assign(static_cast<std::size_t>(k * k), 0.0);
  loadings.gram_of.assign(static_cast<std::size_t>(rows.n_groups()), {});
  if (k == 0) return;
  Eigen::Map<RowMatrix> gram(loadings.gram.data(), k, k);
  for (Index g = 0; g < rows.n_groups(); ++g) {
    if (loadings.v_inverse[g].empty()) continue;
    RowMatrix own = rows.group_size[g] * ConstMap(loadings.v_inverse[g].data(), k, k);
    if (rows.n_groups() == 1) {
      own.noalias() += loadings.tau() * m * m.transpose();
    } else {
      RowMatrix part(k, static_cast<Index>(rows.group_size[g]));
      for (Index j = 0, at = 0; j < rows.d; ++j)
        if (rows.group[j] == g) part.col(at++) = m.col(j);
      own.noalias() += loadings.tau() * part * part.transpose();
    }
    gram += own;
    if (rows.n_groups() > 1) loadings.gram_of[g].assign(own.data(), own.data() + k * k);
  }
}

}  // namespace bnpvi::features
