#include "dynamics/latent_path.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "foundation/special.h"
#include "observations/linalg.h"

namespace bnpvi::dynamics {

namespace {

// L L' = A in place (lower triangle of a, m × m); adds log|A|.
void factorise(double* a, Index m, double& log_det) {
  for (Index j = 0; j < m; ++j) {
    double pivot = a[j * m + j];
    for (Index k = 0; k < j; ++k) pivot -= a[j * m + k] * a[j * m + k];
    if (!(pivot > 0) || !std::isfinite(pivot))
      throw std::domain_error("the precision of hidden states is not positive definite in double precision");
    log_det += std::log(pivot);
    const double root = std::sqrt(pivot);
    a[j * m + j] = root;
    for (Index i = j + 1; i < m; ++i) {
      double sum = a[i * m + j];
      for (Index k = 0; k < j; ++k) sum -= a[i * m + k] * a[j * m + k];
      a[i * m + j] = sum / root;
    }
  }
}

// X ← L⁻¹ X and X ← L⁻' X, X of m × cols.
void solve_lower(const double* l, Index m, double* x, Index cols) {
  for (Index i = 0; i < m; ++i)
    for (Index c = 0; c < cols; ++c) {
      double sum = x[i * cols + c];
      for (Index k = 0; k < i; ++k) sum -= l[i * m + k] * x[k * cols + c];
      x[i * cols + c] = sum / l[i * m + i];
    }
}
void solve_upper(const double* l, Index m, double* x, Index cols) {
  for (Index i = m - 1; i >= 0; --i)
    for (Index c = 0; c < cols; ++c) {
      double sum = x[i * cols + c];
      for (Index k = i + 1; k < m; ++k) sum -= l[k * m + i] * x[k * cols + c];
      x[i * cols + c] = sum / l[i * m + i];
    }
}

// −½ v'J v + h'v = ⟨packed v v', w⟩: entries off the diagonal of w stand for two.
class Potential {
 public:
  Potential(Index m, Index n_known) : m_(m), own_(m + n_known), sum_() {}

  void average(const ModeWeights& modes, Index row, Index p) {
    if (!modes.r) {
      at_ = modes.w + 1;
      return;
    }
    sum_.assign(static_cast<std::size_t>(p), 0.0);
    for (Index k = 0; k < modes.k; ++k) {
      const double r = modes.r[row * modes.k + k];
      if (r == 0) continue;
      for (Index i = 0; i < p; ++i) sum_[i] += r * modes.w[k * p + i];
    }
    at_ = sum_.data() + 1;
  }
  void add_to(bool own, const double* known, double* precision, double* h) const {
    const Index from = own ? own_ : 0;
    for (Index a = 0; a < m_; ++a) {
      for (Index b = 0; b < m_; ++b)
        precision[a * m_ + b] -= (a == b ? 2 : 1) * at_[packed(from + a, from + b)];
      for (Index b = m_; b < own_; ++b) h[a] += at_[packed(from + a, b)] * known[b - m_];
    }
  }
  // U', m × m: row a is x_{t−1,a}, column b is x_{t,b}.
  void cross(double* out) const {
    for (Index a = 0; a < m_; ++a)
      for (Index b = 0; b < m_; ++b) out[a * m_ + b] = -at_[packed(own_ + b, a)];
  }

 private:
  Index m_, own_;
  Vec sum_;
  const double* at_ = nullptr;
};

}  // namespace

LatentPaths::LatentPaths(const Series& series, const EmissionPrior& emission)
    : n(series.n),
      m(emission.m),
      n_known(series.n_known),
      before(emission.by_mode ? 1 : 0),
      after(emission.by_mode ? emission.n_statistics() : 0),
      mean(static_cast<std::size_t>(n * m), 0.0),
      var(static_cast<std::size_t>(n * n_var()), 0.0),
      features(static_cast<std::size_t>(n * n_features()), 0.0),
      start(static_cast<std::size_t>(series.n_groups()), 0.0),
      entropy(start) {}

void LatentPaths::see_row(Index row, const double* y, const EmissionPrior& prior) {
  if (!prior.by_mode) return;
  EmissionStatistics own(prior);
  own.add_row(prior, y, mean_of(row), var_of(row), 1);
  features[row] = 1;
  double* out = features.data() + (before + n_dynamics()) * n + row;
  for (const Vec* part : {&own.count, &own.moment})
    for (double value : *part) {
      *out = value;
      out += n;
    }
}

void LatentPaths::set_features(Index t, const double* known, const double* cross) {
  const double *from = mean_of(t - 1), *now = mean_of(t), *var_from = var_of(t - 1), *var_now = var_of(t);
  double* out = features.data() + before * n + t;
  *out = 1;
  for (Index a = 0; a < m; ++a)
    for (Index b = 0; b <= a; ++b) *(out += n) = from[a] * from[b] + var_from[packed(a, b)];
  for (Index i = 0; i < n_known; ++i) {
    for (Index b = 0; b < m; ++b) *(out += n) = known[i] * from[b];
    for (Index b = 0; b <= i; ++b) *(out += n) = known[i] * known[b];
  }
  for (Index a = 0; a < m; ++a) {
    for (Index b = 0; b < m; ++b) *(out += n) = now[a] * from[b] + (cross ? cross[a * m + b] : 0);
    for (Index b = 0; b < n_known; ++b) *(out += n) = now[a] * known[b];
    for (Index b = 0; b <= a; ++b) *(out += n) = now[a] * now[b] + var_now[packed(a, b)];
  }
}

void smooth_rows(const Series& series, Index from, Index to, Index group, const ModeWeights& modes,
                 const std::vector<Emission>& emission, const StartPrior& prior,
                 const std::function<void()>& poll, LatentPaths& out) {
  const Index m = out.m, mm = m * m, p = out.n_dynamics(), length = to - from;
  Vec l(static_cast<std::size_t>(length * mm)), x(l.size()), y(static_cast<std::size_t>(length * m));
  Vec next_j(static_cast<std::size_t>(mm)), next_h(static_cast<std::size_t>(m));
  Potential potential(m, out.n_known);
  double log_det = 0;
  next_j = prior.precision;
  for (Index a = 0; a < m; ++a) {
    next_h[a] = 0;
    for (Index b = 0; b < m; ++b) next_h[a] += prior.precision[a * m + b] * prior.mean[b];
  }
  for (Index t = 0; t < length; ++t) {
    if (t % 32 == 31) poll();
    double *j = l.data() + t * mm, *h = y.data() + t * m, *xt = x.data() + t * mm;
    std::copy(next_j.begin(), next_j.end(), j);
    std::copy(next_h.begin(), next_h.end(), h);
    if (emission.size() == 1) emission[0].add_potential(series.y_of(from + t), 1, j, h);
    for (Index k = 0; emission.size() > 1 && k < modes.k; ++k)
      if (const double r = modes.r[(from + t) * modes.k + k]; r != 0)
        emission[k].add_potential(series.y_of(from + t), r, j, h);
    if (t > 0) {
      const double* y_before = h - m;
      for (Index a = 0; a < m; ++a)
        for (Index b = 0; b < m; ++b) {
          h[b] -= xt[a * m + b] * y_before[a];
          for (Index c = 0; c < m; ++c) j[b * m + c] -= xt[a * m + b] * xt[a * m + c];
        }
    }
    if (t + 1 < length) {
      potential.average(modes, from + t + 1, p);
      const double* known = series.known_of(from + t + 1);
      potential.add_to(false, known, j, h);
      std::fill(next_j.begin(), next_j.end(), 0.0);
      std::fill(next_h.begin(), next_h.end(), 0.0);
      potential.add_to(true, known, next_j.data(), next_h.data());
      potential.cross(xt + mm);
    }
    factorise(j, m, log_det);
    solve_lower(j, m, h, 1);
    if (t + 1 < length) solve_lower(j, m, xt + mm, m);
  }
  Vec v(static_cast<std::size_t>(mm)), inverse(v), gain(v), cross(v), av(v),
      mean(static_cast<std::size_t>(m)), mean_next(mean);
  for (Index t = length - 1; t >= 0; --t) {
    if (t % 32 == 31) poll();
    const double* lt = l.data() + t * mm;
    std::copy_n(y.data() + t * m, m, mean.begin());
    std::fill(inverse.begin(), inverse.end(), 0.0);
    for (Index a = 0; a < m; ++a) inverse[a * m + a] = 1;
    solve_lower(lt, m, inverse.data(), m);
    solve_upper(lt, m, inverse.data(), m);
    if (t + 1 < length) {
      const double* xn = x.data() + (t + 1) * mm;
      for (Index a = 0; a < m; ++a)
        for (Index b = 0; b < m; ++b) {
          mean[a] -= xn[a * m + b] * mean_next[b];
          gain[a * m + b] = -xn[a * m + b];
        }
      solve_upper(lt, m, gain.data(), m);
      std::fill(cross.begin(), cross.end(), 0.0);
      for (Index a = 0; a < m; ++a)
        for (Index b = 0; b < m; ++b)
          for (Index c = 0; c < m; ++c) cross[a * m + b] += v[a * m + c] * gain[b * m + c];
      for (Index a = 0; a < m; ++a)
        for (Index b = 0; b < m; ++b)
          for (Index c = 0; c < m; ++c) inverse[a * m + b] += gain[a * m + c] * cross[c * m + b];
    }
    solve_upper(lt, m, mean.data(), 1);
    v = inverse;
    const Index row = from + t;
    std::copy(mean.begin(), mean.end(), out.mean.begin() + row * m);
    for (Index a = 0; a < m; ++a)
      for (Index b = 0; b <= a; ++b)
        out.var[row * out.n_var() + packed(a, b)] = 0.5 * (v[a * m + b] + v[b * m + a]);
    out.see_row(row, series.y_of(row), emission[0].prior());
    if (t + 1 < length) out.set_features(row + 1, series.known_of(row + 1), cross.data());
    mean_next = mean;
  }
  double away = 0;
  for (Index a = 0; a < m; ++a)
    for (Index b = 0; b < m; ++b)
      away +=
          prior.precision[a * m + b] * (v[a * m + b] + (mean[a] - prior.mean[a]) * (mean[b] - prior.mean[b]));
  out.start[group] = -0.5 * (static_cast<double>(m) * log_2pi + prior.log_det + away);
  out.entropy[group] = 0.5 * (static_cast<double>(m * length) * (1 + log_2pi) - log_det);
}

void add_emission(const Series& series, const EmissionPrior& prior, const LatentPaths& paths, Index from,
                  Index to, double weight, EmissionStatistics& out) {
  for (Index row = from; row < to; ++row)
    out.add_row(prior, series.y_of(row), paths.mean_of(row), paths.var_of(row), weight);
}

}  // namespace bnpvi::dynamics
