#include "features/residual_direction.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/variates.h"
#include "kernels/kernels.h"

namespace bnpvi::features {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Index most_directions = 10;
constexpr int power_rounds = 10, component_rounds = 30;     // guesses
constexpr Index most_independent = 100, rows_of_each = 20;  // directions at once, rows for each: guesses
constexpr int independent_rounds = 60;                      // 50 features in 64 columns took 40
constexpr double settled = 1e-6;  // of 1 − |cosine| of successive directions: a guess

VectorXd normals(Index n, Stream& stream) {
  VectorXd out(n);
  for (Index i = 0; i < n; ++i) out[i] = draw_normal(stream);
  return out;
}

RowMatrix rows_of(const Buffer& r, Index d, const std::vector<Index>& sample) {
  RowMatrix out(static_cast<Index>(sample.size()), d);
  for (Index i = 0; i < out.rows(); ++i)
    out.row(i) = Eigen::Map<const Eigen::RowVectorXd>(r.data() + sample[i] * d, d);
  return out;
}

// product_tn(): Aᵀ B; product(): A B.
RowMatrix product_tn(const RowMatrix& a, const RowMatrix& b) {
  RowMatrix out = RowMatrix::Zero(a.cols(), b.cols());
  kernels().add_product_tn(a.rows(), a.cols(), b.cols(), a.data(), a.cols(), b.data(), b.cols(), out.data(),
                           b.cols());
  return out;
}
RowMatrix product(const RowMatrix& a, const RowMatrix& b) {
  RowMatrix out(a.rows(), b.cols());
  const RowMatrix bt = b.transpose();
  kernels().product_nt(a.rows(), b.cols(), a.cols(), a.data(), a.cols(), bt.data(), a.cols(), out.data(),
                       b.cols());
  return out;
}

// An orthonormal basis of the q leading directions, by orthogonal iteration.
MatrixXd leading_directions(const RowMatrix& rows, Index q, Stream& stream, Pool& pool) {
  MatrixXd basis(rows.cols(), q);
  for (Index j = 0; j < q; ++j) basis.col(j) = normals(rows.cols(), stream);
  for (int round = 0; round <= power_rounds; ++round) {
    pool.poll();
    if (round > 0) basis = product_tn(rows, product(rows, basis));
    const Eigen::HouseholderQR<MatrixXd> factor(basis);
    basis = factor.householderQ() * MatrixXd::Identity(rows.cols(), q);
  }
  return basis;
}

// The orthogonal matrix nearest to a.
RowMatrix polar(const RowMatrix& a) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(a.transpose() * a);
  const VectorXd scale =
      eigen.eigenvalues().cwiseMax(1e-12 * eigen.eigenvalues().maxCoeff()).cwiseSqrt().cwiseInverse();
  return a * (eigen.eigenvectors() * scale.asDiagonal() * eigen.eigenvectors().transpose());
}

// A matrix for which the columns of centred · whitening are uncorrelated, with variance 1; it has one column
// per direction with any variance.
MatrixXd whitening(const RowMatrix& centred) {
  const MatrixXd covariance = product_tn(centred, centred) / static_cast<double>(centred.rows());
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(covariance);
  const VectorXd variance = eigen.eigenvalues();
  const Index q = (variance.array() > 1e-10 * variance.maxCoeff()).count();
  return eigen.eigenvectors().rightCols(q) * variance.tail(q).cwiseSqrt().cwiseInverse().asDiagonal();
}

Vec clearest(const Buffer& r, Index d, const std::vector<Index>& sample, Stream& stream, Pool& pool) {
  Vec best, score(sample.size());
  double most = -1;
  for (Direction kind :
       {Direction::leading, Direction::skewed, Direction::skewed, Direction::flat, Direction::flat}) {
    Vec way = residual_direction(r, d, sample, kind, stream, pool);
    for (std::size_t i = 0; i < sample.size(); ++i)
      score[i] = std::inner_product(way.begin(), way.end(), r.begin() + sample[i] * d, 0.0);
    const double explained = divide(score).explained;
    if (!(explained > most)) continue;
    most = explained;
    best = std::move(way);
  }
  return best;
}

}  // namespace

Division divide(Vec score) {
  std::sort(score.begin(), score.end());
  const std::size_t n = score.size();
  const double total = std::accumulate(score.begin(), score.end(), 0.0),
               mean = total / static_cast<double>(n);
  double below = 0, best = 0, low = mean, high = mean, squares = 0;
  for (double x : score) squares += (x - mean) * (x - mean);
  for (std::size_t i = 1; i < n; ++i) {
    below += score[i - 1];
    const double left = static_cast<double>(i), right = static_cast<double>(n - i), a = below / left,
                 b = (total - below) / right,
                 between = left * right * (b - a) * (b - a) / static_cast<double>(n);
    if (between > best) best = between, low = a, high = b;
  }
  return {(low + high) / 2, std::abs(high) >= std::abs(low), squares > 0 ? best / squares : 0};
}

Vec residual_direction(const Buffer& r, Index d, const std::vector<Index>& sample, Direction kind,
                       Stream& stream, Pool& pool) {
  if (kind == Direction::clearest) return clearest(r, d, sample, stream, pool);
  RowMatrix rows = rows_of(r, d, sample);
  const Index n = rows.rows();
  const double size = rows.cwiseAbs().maxCoeff();
  Vec out(static_cast<std::size_t>(d));
  Eigen::Map<VectorXd> way(out.data(), d);
  if (!(size > 0)) return out;
  rows /= size;
  if (kind == Direction::row) {
    Vec squares(sample.size());
    for (Index i = 0; i < n; ++i) squares[i] = rows.row(i).squaredNorm();
    way = rows.row(draw(squares, stream)).transpose().normalized();
    return out;
  }
  if (kind == Direction::leading) {
    way = leading_directions(rows, 1, stream, pool).col(0);
    return out;
  }
  const MatrixXd basis = leading_directions(rows, std::min(d, most_directions), stream, pool);
  RowMatrix scores = rows * basis;
  scores.rowwise() -= scores.colwise().mean().eval();
  const MatrixXd whiten = whitening(scores);
  const Index q = whiten.cols();
  if (q == 0) return out;
  const RowMatrix y = scores * whiten;
  VectorXd w = normals(q, stream).normalized();
  for (int round = 0; round < component_rounds; ++round) {
    const VectorXd u = y * w;
    const VectorXd power =
        kind == Direction::skewed ? u.cwiseAbs2() : VectorXd(u.cwiseAbs2().cwiseProduct(u));
    VectorXd next = y.transpose() * power / static_cast<double>(n);
    if (kind == Direction::flat) next -= 3 * w;
    if (!(next.norm() > 0)) break;
    w = next.normalized();
  }
  way = basis * (whiten * w);
  return out;
}

std::vector<Vec> independent_directions(const Buffer& r, Index d, const std::vector<Index>& sample,
                                        Stream& stream, Pool& pool) {
  RowMatrix rows = rows_of(r, d, sample);
  const Index n = rows.rows(), most = std::min({d, most_independent, n / rows_of_each});
  const double size = n > 0 ? rows.cwiseAbs().maxCoeff() : 0;
  std::vector<Vec> out;
  if (most < 2 || !(size > 0)) return out;
  rows /= size;
  const RowMatrix basis = most < d ? RowMatrix(leading_directions(rows, most, stream, pool))
                                   : RowMatrix(RowMatrix::Identity(d, d));
  RowMatrix scores = most < d ? product(rows, basis) : std::move(rows);
  scores.rowwise() -= scores.colwise().mean().eval();
  const RowMatrix whiten = whitening(scores), y = product(scores, whiten);
  const Index q = whiten.cols();
  if (q == 0) return out;
  RowMatrix w(q, q);
  for (Index j = 0; j < q; ++j) w.col(j) = normals(q, stream);
  w = polar(w);
  for (int round = 0; round < independent_rounds; ++round) {
    pool.poll();
    const RowMatrix u = product(y, w), square = u.cwiseAbs2(), cube = square.cwiseProduct(u);
    const Eigen::RowVectorXd skewness = cube.colwise().mean(),
                             kurtosis = square.cwiseAbs2().colwise().mean().array() - 3;
    const RowMatrix by_square = product_tn(y, square) / static_cast<double>(n),
                    by_cube = product_tn(y, cube) / static_cast<double>(n) - 3 * w;
    const RowMatrix next =
        polar(by_square * (skewness / 2).asDiagonal() + by_cube * (kurtosis / 6).asDiagonal());
    if (!next.allFinite()) break;
    const double same = next.cwiseProduct(w).colwise().sum().cwiseAbs().minCoeff();
    w = next;
    if (1 - same < settled) break;
  }
  const RowMatrix ways = (basis * (whiten * w)).transpose();
  for (Index j = 0; j < q; ++j) out.emplace_back(ways.data() + j * d, ways.data() + (j + 1) * d);
  return out;
}

}  // namespace bnpvi::features
