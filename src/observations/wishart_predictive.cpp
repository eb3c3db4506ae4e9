// Predictives of rows under a matrix-normal–Wishart posterior: Student-t distributions.
#include <cmath>
#include <utility>

#include "foundation/special.h"
#include "observations/obs_wishart.h"

namespace bnpvi {

void WishartModel::log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const {
  log_student(student_rows(t), phi, n, ld, out);
}

void WishartModel::log_marginal_predictive(const double* t, const std::vector<Index>& observed,
                                           const double* phi, Index n, Index ld, double* out) const {
  log_student(student_rows(t, observed), phi, n, ld, out);
}

WishartModel::StudentRows WishartModel::student_rows(const double* t) const {
  return student_rows(factorise(t), df_ + t[0], row_constant(), cell_);
}

WishartModel::StudentRows WishartModel::student_rows(const double* t,
                                                     const std::vector<Index>& observed) const {
  const Index m = static_cast<Index>(observed.size());
  Vec prior(static_cast<std::size_t>(m * m)), p(prior.size());
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j <= i; ++j) {
      prior[i * m + j] = prior_[observed[i] * m_ + observed[j]];
      p[i * m + j] = prior[i * m + j] + t[offset_ + packed(observed[i], observed[j])];
    }
  const Vec least = Cholesky(prior.data(), m).pivots();
  double constant = -0.5 * static_cast<double>(m - e_) * log_2pi;
  for (Index i : observed)
    if (i >= e_) constant -= std::log(unit_of(i));
  Vec cell;
  for (Index i : observed)
    if (!cell_.empty()) cell.push_back(cell_[i]);
  return student_rows(Cholesky(p.data(), m, least.data()), df_ + t[0] - static_cast<double>(m_ - m), constant,
                      cell);
}

WishartModel::StudentRows WishartModel::student_rows(Cholesky chol, double df, double constant,
                                                     Vec cell) const {
  const Index m = chol.size();
  const double d = static_cast<double>(m - e_);
  constant = 0.5 * (d * log_2 - chol.log_det(e_, m)) + log_gamma(0.5 * (df + 1)) -
             log_gamma(0.5 * (df + 1 - d)) + constant;
  return {std::move(chol), df, constant, e_, m - e_, std::move(cell)};
}

void WishartModel::StudentRows::squares(const double* phi, Index offset, double* scratch, double& a,
                                        double& b) const {
  const Index m = regressors + responses;
  row_of_features(phi, offset, m, cell, scratch);
  chol.solve_lower(scratch);
  a = b = 0;
  for (Index i = 0; i < regressors; ++i) a += scratch[i] * scratch[i];
  for (Index i = regressors; i < m; ++i) b += scratch[i] * scratch[i];
}

void WishartModel::log_student(const StudentRows& rows, const double* phi, Index n, Index ld,
                               double* out) const {
  const double d = static_cast<double>(rows.responses);
  Vec v(static_cast<std::size_t>(rows.chol.size()));
  for (Index r = 0; r < n; ++r) {
    double a, b;
    rows.squares(phi + r * ld, offset_, v.data(), a, b);
    double log_a = std::log1p(a), log_b = std::log1p(b / (1 + a));
    if (const double log_square = -std::log(phi[r * ld]); log_square > 0) {
      log_a = log_1p_exp(log_square + std::log(a));
      log_b = log_1p_exp(log_square + std::log(b) - log_a);
    }
    out[r] = rows.constant - 0.5 * (rows.df + 1) * log_b - 0.5 * d * log_a;
  }
}

}  // namespace bnpvi
