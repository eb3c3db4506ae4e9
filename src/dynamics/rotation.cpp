#include "dynamics/rotation.h"

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "foundation/lbfgs.h"
#include "observations/linalg.h"

namespace bnpvi::dynamics {

namespace {

using Matrix = Eigen::MatrixXd;

// A symmetric matrix from its packed lower triangle; halved: entries off the diagonal stand for two.
Matrix unpack(const double* a, Index n, bool halved) {
  Matrix out(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) out(i, j) = out(j, i) = a[packed(i, j)] / (halved && i != j ? 2 : 1);
  return out;
}
void pack(const Matrix& a, double* out) {
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j <= i; ++j) out[packed(i, j)] = 0.5 * (a(i, j) + a(j, i));
}

class Rotation {
 public:
  Rotation(const LdsProblem& problem, const LdsState& state)
      : problem_(problem), state_(state), m_(problem.m), width_(state.paths.width()) {
    const Series& s = problem.series;
    first_ = Matrix::Zero(m_, m_);
    first_mean_ = Eigen::VectorXd::Zero(m_);
    for (Index g = 0; g < s.n_groups(); ++g) {
      const Eigen::Map<const Eigen::VectorXd> mean(state.paths.mean_of(s.starts[g]), m_);
      first_ += s.weight[g] * (unpack(state.paths.var_of(s.starts[g]), m_, false) + mean * mean.transpose());
      first_mean_ += s.weight[g] * mean;
      rows_ += s.weight[g] * static_cast<double>(s.starts[g + 1] - s.starts[g]);
    }
    precision_ = Matrix(m_, m_);
    for (Index a = 0; a < m_; ++a)
      for (Index b = 0; b < m_; ++b) precision_(a, b) = problem.start.precision[a * m_ + b];
    start_ = Eigen::Map<const Eigen::VectorXd>(problem.start.mean.data(), m_);
    if (const ExpectedSystem* own = problem.by_mode())
      for (Index k = 0; k < state.k; ++k) seen_.push_back(own->of_emission(state.total.t(k)));
    else
      seen_.push_back(state.seen);
  }

  // The map that x → G x induces on v = (x_{t−1}, b, x_t), and below that on (x, 1, y).
  Matrix of_rows(const Matrix& g) const {
    Matrix out = Matrix::Identity(width_, width_);
    out.topLeftCorner(m_, m_) = g;
    out.bottomRightCorner(m_, m_) = g;
    return out;
  }
  Matrix of_emission(const Matrix& g) const {
    Matrix out = Matrix::Identity(m_ + 2, m_ + 2);
    out.topLeftCorner(m_, m_) = g;
    return out;
  }

  // The transform T → S T S' of the dynamics' statistic of a mode (p numbers), and below of the emission's
  // statistic of all columns.
  Vec dynamics(const Matrix& s, Index k) const {
    const double* t = problem_.of_dynamics(state_.total.t(k));
    Vec out(t, t + state_.paths.n_dynamics());
    pack(s * unpack(t + 1, width_, false) * s.transpose(), out.data() + 1);
    return out;
  }
  EmissionStatistics emission(const Matrix& s, const EmissionStatistics& seen) const {
    EmissionStatistics out = seen;
    const Index q = problem_.emission.n_moments();
    for (Index j = 0; j < problem_.emission.d; ++j)
      pack(s * unpack(seen.moment.data() + j * q, m_ + 2, false) * s.transpose(), out.moment.data() + j * q);
    return out;
  }

  // The terms of the bound that depend on G, and their gradient: dΛ/dS = 2 (∂Λ/∂T) S T.
  RoundedSum value(const Vec& x, Vec& gradient) const {
    const Matrix g = Eigen::Map<const Matrix>(x.data(), m_, m_);
    RoundedSum sum;
    Matrix slope = Matrix::Zero(m_, m_);
    const double det = g.determinant();
    if (!(det > 0)) {
      sum.add(-std::numeric_limits<double>::infinity());
      return sum;
    }
    sum.add(rows_ * std::log(det));
    slope += rows_ * g.inverse().transpose();
    const Matrix s = of_rows(g), c = of_emission(g);
    const Index q = problem_.emission.n_moments();
    Vec w(static_cast<std::size_t>(state_.paths.n_dynamics()));
    for (Index k = 0; k < state_.k; ++k) {
      sum.add(problem_.dynamics().evidence_and_weights(dynamics(s, k).data(), w.data()));
      const Matrix d = 2 * unpack(w.data() + 1, width_, true) * s *
                       unpack(problem_.of_dynamics(state_.total.t(k)) + 1, width_, false);
      slope += d.topLeftCorner(m_, m_) + d.bottomRightCorner(m_, m_);
    }
    for (std::size_t k = 0; k < seen_.size(); ++k) {
      const EmissionStatistics& statistics = seen_[k];
      const int name = state_.total.names.of_cluster(static_cast<Index>(k));
      const Emission seen(problem_.emission.of_mode(name), emission(c, statistics));
      sum.add(seen.value());
      const Index e = m_ + 1;
      for (Index j = 0; j < problem_.emission.d; ++j) {
        const double rho = seen.mean_precision()[j];
        Eigen::VectorXd of_y(e + 1);
        for (Index a = 0; a < e; ++a) of_y[a] = -seen.loadings()[j * e + a];
        of_y[e] = 1;
        Matrix weight = rho * of_y * of_y.transpose();
        for (Index a = 0; a < e; ++a)
          for (Index b = 0; b < e; ++b) weight(a, b) += seen.inverse()[j * e * e + a * e + b];
        slope -= (weight * c * unpack(statistics.moment.data() + j * q, e + 1, false)).topLeftCorner(m_, m_);
      }
    }
    sum.add(-0.5 * (precision_ * g * first_ * g.transpose()).trace() +
            (start_.transpose() * precision_ * g * first_mean_)(0));
    slope += -precision_ * g * first_ + precision_ * start_ * first_mean_.transpose();
    gradient.assign(slope.data(), slope.data() + m_ * m_);
    return sum;
  }

  // q(x) and the statistics in the new coordinates.
  void apply(const Matrix& g, LdsState& out) const {
    const Matrix s = of_rows(g);
    const Series& series = problem_.series;
    const Index p = out.paths.n_dynamics(), n = out.paths.n;
    double* table = out.paths.features.data() + out.paths.before * n;
    const double log_det = std::log(g.determinant());
    problem_.pool.run(series.n_groups(), [&](Index group) {
      Vec row(static_cast<std::size_t>(p));
      for (Index t = series.starts[group]; t < series.starts[group + 1]; ++t) {
        if (t % 1024 == 0) problem_.pool.poll();
        double* mean = out.paths.mean.data() + t * m_;
        const Eigen::VectorXd moved = g * Eigen::Map<const Eigen::VectorXd>(mean, m_);
        Eigen::Map<Eigen::VectorXd>(mean, m_) = moved;
        double* var = out.paths.var.data() + t * out.paths.n_var();
        pack(g * unpack(var, m_, false) * g.transpose(), var);
        out.paths.see_row(t, series.y_of(t), problem_.emission);
        if (t == series.starts[group]) continue;
        for (Index i = 0; i < p; ++i) row[i] = table[i * n + t];
        pack(s * unpack(row.data() + 1, width_, false) * s.transpose(), row.data() + 1);
        for (Index i = 0; i < p; ++i) table[i * n + t] = row[i];
      }
      const Index t = series.starts[group];
      const Eigen::VectorXd away = Eigen::Map<const Eigen::VectorXd>(out.paths.mean_of(t), m_) - start_;
      const Matrix second = unpack(out.paths.var_of(t), m_, false) + away * away.transpose();
      const Eigen::VectorXd before = Eigen::Map<const Eigen::VectorXd>(state_.paths.mean_of(t), m_) - start_;
      const Matrix first = unpack(state_.paths.var_of(t), m_, false) + before * before.transpose();
      out.paths.start[group] -= 0.5 * (precision_ * (second - first)).trace();
      out.paths.entropy[group] += log_det * static_cast<double>(series.starts[group + 1] - t);
    });
    const Matrix c = of_emission(g);
    for (Index k = 0; k < state_.k; ++k) {
      double* to = out.total.edit_t(k) + out.paths.before;
      const Vec t = dynamics(s, k);
      to = std::copy(t.begin(), t.end(), to);
      if (!problem_.by_mode()) continue;
      const EmissionStatistics seen = emission(c, seen_[k]);
      to = std::copy(seen.count.begin(), seen.count.end(), to);
      std::copy(seen.moment.begin(), seen.moment.end(), to);
    }
    if (!problem_.by_mode()) out.seen = emission(c, state_.seen);
  }

 private:
  const LdsProblem& problem_;
  const LdsState& state_;
  Index m_, width_;
  Matrix first_, precision_;  // Σ E x_1 x_1', P_0⁻¹
  Eigen::VectorXd first_mean_, start_;
  double rows_ = 0;
  std::vector<EmissionStatistics> seen_;
};

}  // namespace

void rotate(const LdsProblem& problem, LdsState& state) {
  const Rotation rotation(problem, state);
  const Index m = problem.m;
  Vec x(static_cast<std::size_t>(m * m), 0.0);
  for (Index a = 0; a < m; ++a) x[a * m + a] = 1;
  maximise(
      [&](const Vec& at, Vec& gradient) {
        try {
          return rotation.value(at, gradient);
        } catch (const std::domain_error&) {
          RoundedSum outside;
          outside.add(-std::numeric_limits<double>::infinity());
          return outside;
        }
      },
      x, 1e-9, 20);
  LdsState tried = state;
  rotation.apply(Eigen::Map<const Matrix>(x.data(), m, m), tried);
  renew(problem, tried);
  if (!(tried.elbo > state.elbo)) return;
  assign(problem, tried);
  renew(problem, tried);
  if (tried.elbo > state.elbo) accept(problem, state, std::move(tried));
}

}  // namespace bnpvi::dynamics
