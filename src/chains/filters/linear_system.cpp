#include "chains/filters/linear_system.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bnpvi::chains {

namespace {

constexpr double log_2pi = 1.8378770664093454836;

// A variance computed by differences counts as 0 below this fraction of its original size, as it may then be
// rounding error (a guess, some 50 units in the last place).
constexpr double rounding = 1e-14;

}  // namespace

double LinearSystem::offset(Index mode, Index j, const double* u) const {
  double sum = loadings(mode, j)[m];
  for (Index i = 0; i < n_inputs; ++i) sum += g[(seen_by(mode) * d + j) * n_inputs + i] * u[i];
  return sum;
}

Observed observe(const LinearSystem& system, Index mode, const double* y, const double* u) {
  const Index m = system.m, d = system.d;
  std::vector<Index> seen;
  for (Index j = 0; j < d; ++j)
    if (!std::isnan(y[j])) seen.push_back(j);
  Observed out;
  out.n = static_cast<Index>(seen.size());
  const Index n = out.n;
  out.c.resize(static_cast<std::size_t>(n * m));
  out.y.resize(static_cast<std::size_t>(n));
  out.noise.resize(out.y.size());
  Vec l(static_cast<std::size_t>(n * n));
  for (Index i = 0; i < n; ++i) {
    const double* r = system.noise(mode, seen[i]);
    double* c = out.c.data() + i * m;
    std::copy_n(system.loadings(mode, seen[i]), m, c);
    out.y[i] = y[seen[i]] - system.offset(mode, seen[i], u);
    double left = r[seen[i]];
    for (Index j = 0; j < i; ++j) {
      double rest = r[seen[j]];
      for (Index h = 0; h < j; ++h) rest -= l[i * n + h] * out.noise[h] * l[j * n + h];
      const double share = out.noise[j] > 0 ? rest / out.noise[j] : 0;
      l[i * n + j] = share;
      left -= share * share * out.noise[j];
      out.y[i] -= share * out.y[j];
      for (Index h = 0; h < m; ++h) c[h] -= share * out.c[j * m + h];
    }
    out.noise[i] = left > rounding * r[seen[i]] ? left : 0;
  }
  return out;
}

void predict_state(const LinearSystem& system, Index mode, const double* u, const double* mean,
                   const double* cov, double* new_mean, double* new_cov) {
  const Index m = system.m, n_inputs = system.n_inputs;
  const double *a = system.a.data() + mode * m * (m + 1), *q = system.q.data() + mode * m * m;
  Vec ap(static_cast<std::size_t>(m));
  for (Index i = 0; i < m; ++i) {
    const double* row = a + i * (m + 1);
    double sum = row[m];
    for (Index j = 0; j < n_inputs; ++j) sum += system.f[(mode * m + i) * n_inputs + j] * u[j];
    for (Index j = 0; j < m; ++j) sum += row[j] * mean[j];
    new_mean[i] = sum;
    std::fill(ap.begin(), ap.end(), 0.0);
    for (Index h = 0; h < m; ++h)
      for (Index j = 0; j < m; ++j) ap[j] += row[h] * cov[h * m + j];
    for (Index j = 0; j <= i; ++j) {
      double value = q[i * m + j];
      for (Index h = 0; h < m; ++h) value += ap[h] * a[j * (m + 1) + h];
      new_cov[i * m + j] = new_cov[j * m + i] = value;
    }
  }
}

double update_state(const Observed& row, Index m, double* mean, double* cov) {
  const std::size_t numbers = static_cast<std::size_t>(m);
  Vec spread(numbers), w(numbers), gain(numbers), kept(numbers * numbers), half(numbers * numbers);
  for (Index i = 0; i < m; ++i) spread[i] = std::sqrt(std::max(0.0, cov[i * m + i]));
  double log_p = 0;
  for (Index o = 0; o < row.n; ++o) {
    const double* c = row.c.data() + o * m;
    double error = row.y[o], variance = 0, before = 0;
    for (Index i = 0; i < m; ++i) {
      w[i] = 0;
      for (Index j = 0; j < m; ++j) w[i] += cov[i * m + j] * c[j];
      error -= c[i] * mean[i];
      variance += c[i] * w[i];
      before += std::abs(c[i]) * spread[i];
    }
    variance = std::max(0.0, variance) + row.noise[o];
    if (!(variance > rounding * (before * before + row.noise[o])))
      return std::numeric_limits<double>::quiet_NaN();
    log_p -= 0.5 * (log_2pi + std::log(variance) + error / variance * error);
    // P ← M P M' + noise·gain gain', M = I − gain c'.
    for (Index i = 0; i < m; ++i) {
      gain[i] = w[i] / variance;
      mean[i] += gain[i] * error;
      for (Index j = 0; j < m; ++j) {
        kept[i * m + j] = (i == j) - gain[i] * c[j];
        half[i * m + j] = cov[i * m + j] - gain[i] * w[j];
      }
    }
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j <= i; ++j) {
        double value = row.noise[o] * gain[i] * gain[j];
        for (Index h = 0; h < m; ++h) value += half[i * m + h] * kept[j * m + h];
        cov[i * m + j] = cov[j * m + i] = value;
      }
  }
  return log_p;
}

}  // namespace bnpvi::chains
