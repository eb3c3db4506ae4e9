// Predictives, draws and reported arrays of Gaussian clusters with drift.
#include <algorithm>
#include <cmath>
#include <limits>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "observations/obs_gaussian_drift.h"

namespace bnpvi {

void GaussianDrift::point_estimate(const double* t, double* mean, double* w) const {
  const Posterior q = smoothed(t);
  double all = 0;
  for (Index s = 0; s < path_.times(); ++s) all += std::max(t[slot_at(s)], 0.0);
  const double divisor = std::max(given_.full ? q.df - static_cast<double>(d_) - 1 : q.df, 1.0);
  std::fill_n(mean, n_features(), 0.0);
  mean[0] = 1;
  for (Index b = 0; b < blocks_; ++b) {
    const Vec& l = q.factor[b].factor();
    for (Index i = 0; i < d_; ++i)
      for (Index j = 0; j <= i; ++j)
        for (Index m = 0; m <= j; ++m) mean[1 + moment(b, i, j)] += l[i * d_ + m] * l[j * d_ + m] / divisor;
  }
  for (Index s = 0; s < path_.times(); ++s) {
    const double share =
        all > 0 ? std::max(t[slot_at(s)], 0.0) / all : 1 / static_cast<double>(path_.times());
    double* slot = mean + slot_at(s);
    slot[0] = share;
    for (Index j = 0; j < columns(); ++j) slot[1 + j] = share * q.path.mean(s)[j];
    add_square(share, q.path.mean(s), mean + 1);
  }
  natural(q, divisor, 0, w);
  w[0] = row_constant_ + 0.5 * (static_cast<double>(columns()) * std::log(divisor) - q.log_det);
}

void GaussianDrift::draw(const double* t, Stream& stream, double* w) const {
  const Posterior q = smoothed(t);
  std::fill_n(w, n_features(), 0.0);
  w[0] = row_constant_ - 0.5 * q.log_det;
  std::vector<Vec> roots;
  for (Index b = 0; b < blocks_; ++b) {
    const Vec inverse = q.factor[b].inverse_factor();
    roots.emplace_back(static_cast<std::size_t>(d_ * d_), 0.0);
    for (Index i = 0; i < d_; ++i) {
      const double log_square =
          log_2 + draw_log_gamma(0.5 * (q.df - static_cast<double>(d_ - 1 - i)), stream);
      w[0] += 0.5 * log_square;
      for (Index m = 0; m <= i; ++m) {
        const double c = m < i ? draw_normal(stream) : std::exp(0.5 * log_square);
        for (Index j = 0; j <= m; ++j) roots.back()[i * d_ + j] += c * inverse[m * d_ + j];
      }
    }
    for (Index i = 0; i < d_; ++i)
      for (Index j = 0; j < d_; ++j)
        for (Index l = 0; l <= j; ++l)
          w[1 + moment(b, j, l)] -= (j == l ? 0.5 : 1) * roots[b][i * d_ + j] * roots[b][i * d_ + l];
  }
  // Computes A x, or Aᵀx.
  const auto mapped = [&](const double* x, bool transposed, double* out) {
    std::fill_n(out, columns(), 0.0);
    for (Index b = 0; b < blocks_; ++b)
      for (Index i = 0; i < d_; ++i)
        for (Index j = 0; j <= i; ++j) {
          const double a = roots[b][i * d_ + j];
          (transposed ? out[b * d_ + j] : out[b * d_ + i]) += a * x[b * d_ + (transposed ? i : j)];
        }
  };
  Vec image(static_cast<std::size_t>(path_.times() * columns()));
  for (Index s = 0; s < path_.times(); ++s) mapped(q.path.mean(s), false, image.data() + s * columns());
  const Vec path = q.path.draw(image, stream);
  for (Index s = 0; s < path_.times(); ++s) {
    double* slot = w + slot_at(s);
    const double* point = path.data() + s * columns();
    for (Index j = 0; j < columns(); ++j) slot[0] -= 0.5 * point[j] * point[j];
    mapped(point, true, slot + 1);
  }
}

void GaussianDrift::log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const {
  const Posterior q = smoothed(t);
  const double d = static_cast<double>(d_), j_blocks = static_cast<double>(blocks_);
  const double constant = row_constant_ - 0.5 * q.log_det -
                          j_blocks * log_gamma_difference(0.5 * (q.df + 1 - d), 0.5 * d) +
                          0.5 * j_blocks * d * log_2;
  Vec e(static_cast<std::size_t>(d_));
  for (Index i = 0; i < n; ++i) {
    const double* f = phi + i * ld;
    Index s = 0;
    while (s + 1 < path_.times() && f[slot_at(s)] == 0) ++s;
    const double* slot = f + slot_at(s);
    const double log_shrink = -std::log1p(q.path.variance(s));
    out[i] = constant + 0.5 * j_blocks * d * log_shrink;
    for (Index b = 0; b < blocks_; ++b) {
      double largest = 1, square = 0;
      for (Index j = 0; j < d_; ++j) {
        e[j] = slot[1 + b * d_ + j] / f[0] - q.path.mean(s)[b * d_ + j];
        largest = std::max(largest, std::abs(e[j]));
      }
      for (double& value : e) value /= largest;
      q.factor[b].solve_lower(e.data());
      for (double value : e) square += value * value;
      out[i] -= 0.5 * (q.df + 1) * log_1p_exp(2 * std::log(largest) + std::log(square) + log_shrink);
    }
  }
}

double GaussianDrift::strength_at(Index time) const {
  double strength = path_.strength;
  for (Index s = 0; s < time; ++s) strength /= 1 + path_.step[s] * strength;
  return strength;
}

Vec GaussianDrift::condensed(const double* t, Index gone, double& constant) const {
  DriftPrior until = path_;
  until.step.resize(static_cast<std::size_t>(gone - 1));
  const DriftPath path(until, t + first_slot());
  const double start = strength_at(gone - 1), end = path.strength(gone - 1);
  const double* mean = path.filtered(gone - 1);
  Vec out(t, t + slot_at(0));
  path.for_squares([&](double c, const double* x) { add_square(c, x, out.data() + 1); });
  add_square(end, mean, out.data() + 1);
  add_square(-start, path_.mean.data(), out.data() + 1);
  out.push_back(std::max(0.0, end - start));
  for (Index j = 0; j < columns(); ++j) out.push_back(end * mean[j] - start * path_.mean[j]);
  out.insert(out.end(), t + slot_at(gone), t + n_features());
  constant += 0.5 * static_cast<double>(columns()) * (path.log_ratio() + std::log1p((end - start) / start));
  return out;
}

NamedArrays GaussianDrift::posterior(const double* t, Index k) const {
  NamedArray strength{"mean_strength", Vec(static_cast<std::size_t>(k * path_.times())), {k, path_.times()}};
  NamedArray df{"df", {}, {}}, size = strength;
  size.name = "size";
  for (Index c = 0; c < k; ++c) {
    const Posterior q = smoothed(t + c * n_features());
    for (Index s = 0; s < path_.times(); ++s) {
      strength.value[c + k * s] = 1 / q.path.variance(s);
      size.value[c + k * s] = t[c * n_features() + slot_at(s)];
    }
    df.value.push_back(q.df);
  }
  NamedArray scale = squares("scale", false, t, k);
  if (!given_.full) {
    NamedArray of_columns{"scale", {}, {k, columns()}};
    for (Index j = 0; j < columns(); ++j)
      for (Index c = 0; c < k; ++c)
        of_columns.value.push_back(scale.value[(c * columns() + j) * columns() + j]);
    scale = of_columns;
  }
  return {means(t, k), strength, df, scale, size};
}

NamedArrays GaussianDrift::mean_parameters(const double* t, Index k) const {
  return {means(t, k), squares("cov", true, t, k)};
}

NamedArray GaussianDrift::means(const double* t, Index k) const {
  NamedArray out{
      "mean", Vec(static_cast<std::size_t>(k * columns() * path_.times())), {k, columns(), path_.times()}};
  for (Index c = 0; c < k; ++c) {
    const Posterior q = smoothed(t + c * n_features());
    for (Index s = 0; s < path_.times(); ++s)
      for (Index j = 0; j < columns(); ++j)
        out.value[c + k * (j + columns() * s)] = columns_.centre[j] + columns_.unit[j] * q.path.mean(s)[j];
  }
  return out;
}

NamedArray GaussianDrift::squares(const char* name, bool mean, const double* t, Index k) const {
  NamedArray out{
      name, Vec(static_cast<std::size_t>(columns() * columns() * k), 0.0), {columns(), columns(), k}};
  for (Index c = 0; c < k; ++c) {
    const Posterior q(*this, t + c * n_features());
    const double by = mean ? q.df - static_cast<double>(d_) - 1 : 1;
    for (Index i = 0; i < columns(); ++i)
      for (Index j = i / d_ * d_; j < (i / d_ + 1) * d_; ++j) {
        const Vec& l = q.factor[i / d_].factor();
        double sum = 0;
        for (Index m = 0; m <= std::min(i % d_, j % d_); ++m) sum += l[i % d_ * d_ + m] * l[j % d_ * d_ + m];
        out.value[(c * columns() + j) * columns() + i] =
            by > 0 ? sum * columns_.unit[i] * columns_.unit[j] / by : std::numeric_limits<double>::infinity();
      }
  }
  return out;
}

}  // namespace bnpvi
