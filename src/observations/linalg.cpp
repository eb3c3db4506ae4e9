#include "observations/linalg.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "kernels/kernels.h"

namespace bnpvi {

namespace {
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const RowMatrix>;

[[noreturn]] void indefinite() {
  throw std::domain_error(
      "a matrix of the observation model is not positive definite in double precision; rescale the columns, "
      "or choose a prior scale closer to the spread of the data");
}
}  // namespace

Cholesky::Cholesky(const double* a, Index d, const double* least_pivot)
    : d_(d), l_(static_cast<std::size_t>(d * d), 0.0) {
  const ConstMap source(a, d, d);
  Eigen::Map<RowMatrix> l(l_.data(), d, d);
  Eigen::VectorXd column(d), left = source.diagonal();
  for (Index j = 0; j < d; ++j) {
    const Index below = d - j;
    auto c = column.head(below);
    c = source.col(j).tail(below);
    c.noalias() -= l.block(j, 0, below, j) * l.row(j).head(j).transpose();
    const double pivot = least_pivot == nullptr ? c[0] : std::max(c[0], least_pivot[j]);
    if (!(pivot > 0) || !std::isfinite(pivot)) indefinite();
    const double root = std::sqrt(pivot);
    l.col(j).tail(below) = c / root;
    l(j, j) = root;
    if (least_pivot == nullptr) continue;
    for (Index i = j + 1; i < d; ++i) {
      const double square = l(i, j) * l(i, j), bound = std::max(left[i], least_pivot[i]);
      if (square > bound) l(i, j) = std::copysign(std::sqrt(bound), l(i, j));
      left[i] -= std::min(square, bound);
    }
  }
}

Vec Cholesky::inverse_factor() const {
  Vec out(l_.size(), 0.0), c(static_cast<std::size_t>(d_));
  std::vector<int> above(static_cast<std::size_t>(d_));
  std::iota(above.begin(), above.end(), 0);
  for (Index i = 0; i < d_; ++i) {
    double* row = out.data() + i * d_;
    const double scale = 1 / l_[i * d_ + i];
    for (Index k = 0; k < i; ++k) c[k] = -scale * l_[i * d_ + k];
    kernels().add_sparse_rows(i, i, above.data(), c.data(), out.data(), d_, row);
    row[i] = scale;
  }
  if (!ConstMap(out.data(), d_, d_).allFinite()) indefinite();
  return out;
}

void Cholesky::solve_lower(double* x) const {
  Eigen::Map<Eigen::VectorXd> v(x, d_);
  ConstMap(l_.data(), d_, d_).triangularView<Eigen::Lower>().solveInPlace(v);
}

void Cholesky::solve(double* x) const {
  solve_lower(x);
  Eigen::Map<Eigen::VectorXd> v(x, d_);
  ConstMap(l_.data(), d_, d_).transpose().triangularView<Eigen::Upper>().solveInPlace(v);
}

Vec Cholesky::pivots() const {
  Vec out(static_cast<std::size_t>(d_));
  for (Index i = 0; i < d_; ++i) out[i] = l_[i * d_ + i] * l_[i * d_ + i];
  return out;
}

double Cholesky::log_det(Index from, Index to) const {
  double sum = 0;
  for (Index i = from; i < to; ++i) sum += 2 * std::log(l_[i * d_ + i]);
  return sum;
}

void map_eigenvalues(double* a, Index d, const std::function<double(double)>& f) {
  Eigen::Map<RowMatrix> m(a, d, d);
  if (!m.allFinite()) indefinite();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(m);
  const Eigen::MatrixXd& q = eigen.eigenvectors();
  m = q * eigen.eigenvalues().unaryExpr(f).eval().asDiagonal() * q.transpose();
}

}  // namespace bnpvi
