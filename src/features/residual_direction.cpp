#include "features/residual_direction.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "foundation/variates.h"

namespace bnpvi::features {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Index most_directions = 10;
constexpr int power_rounds = 10, component_rounds = 30;  // guesses

VectorXd normals(Index n, Stream& stream) {
  VectorXd out(n);
  for (Index i = 0; i < n; ++i) out[i] = draw_normal(stream);
  return out;
}

// An orthonormal basis of the q leading directions, by orthogonal iteration.
MatrixXd leading_directions(const RowMatrix& rows, Index q, Stream& stream) {
  MatrixXd basis(rows.cols(), q);
  for (Index j = 0; j < q; ++j) basis.col(j) = normals(rows.cols(), stream);
  for (int round = 0; round <= power_rounds; ++round) {
    if (round > 0) basis = rows.transpose() * (rows * basis).eval();
    const Eigen::HouseholderQR<MatrixXd> factor(basis);
    basis = factor.householderQ() * MatrixXd::Identity(rows.cols(), q);
  }
  return basis;
}

Vec clearest(const Buffer& r, Index d, const std::vector<Index>& sample, Stream& stream) {
  Vec best, score(sample.size());
  double most = -1;
  for (Direction kind :
       {Direction::leading, Direction::skewed, Direction::skewed, Direction::flat, Direction::flat}) {
    Vec way = residual_direction(r, d, sample, kind, stream);
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
                       Stream& stream) {
  if (kind == Direction::clearest) return clearest(r, d, sample, stream);
  const Index n = static_cast<Index>(sample.size());
  RowMatrix rows(n, d);
  for (Index i = 0; i < n; ++i)
    rows.row(i) = Eigen::Map<const Eigen::RowVectorXd>(r.data() + sample[i] * d, d);
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
    way = leading_directions(rows, 1, stream).col(0);
    return out;
  }
  const MatrixXd basis = leading_directions(rows, std::min(d, most_directions), stream);
  RowMatrix scores = rows * basis;
  scores.rowwise() -= scores.colwise().mean().eval();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(scores.transpose() * scores / static_cast<double>(n));
  const VectorXd variance = eigen.eigenvalues();
  const Index q = (variance.array() > 1e-10 * variance.maxCoeff()).count();
  if (q == 0) return out;
  const MatrixXd whiten =
      eigen.eigenvectors().rightCols(q) * variance.tail(q).cwiseSqrt().cwiseInverse().asDiagonal();
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

}  // namespace bnpvi::features
