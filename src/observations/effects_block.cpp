#include "observations/effects_block.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "foundation/special.h"
#include "foundation/variates.h"

namespace bnpvi {

EffectsBlock::EffectsBlock(EffectsPrior prior, Index count, std::vector<Index> at)
    : prior_(std::move(prior)), m_(prior_.e + prior_.d), count_(count), at_(std::move(at)) {
  const Index e = prior_.e, d = prior_.d;
  joint_.assign(static_cast<std::size_t>(m_ * m_), 0.0);
  for (Index i = 0; i < e; ++i) std::copy_n(prior_.precision.data() + i * e, e, joint_.data() + i * m_);
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < e; ++j)
      for (Index l = 0; l < e; ++l)
        joint_[(e + i) * m_ + j] += prior_.coef[i * e + l] * prior_.precision[l * e + j];
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j) {
      double sum = prior_.scale[i * d + j];
      for (Index l = 0; l < e; ++l) sum += joint_[(e + i) * m_ + l] * prior_.coef[j * e + l];
      joint_[(e + i) * m_ + e + j] = sum;
    }
  const Cholesky chol(joint_.data(), m_);
  least_pivot_ = chol.pivots();
  log_det_v_ = chol.log_det(0, e);
  if (prior_.known.empty()) {
    log_z_prior_ = log_z(prior_.df, log_det_v_, chol.log_det(e, m_));
    return;
  }
  const Cholesky known(prior_.known.data(), d);
  known_root_ = known.inverse_factor();
  log_det_known_ = known.log_det(0, d);
}

double EffectsBlock::log_z(double df, double log_det_v, double log_det_b) const {
  const double d = static_cast<double>(prior_.d);
  return -0.5 * df * log_det_b + 0.5 * df * d * log_2 + log_multigamma(prior_.d, 0.5 * df) -
         0.5 * d * log_det_v;
}

Cholesky EffectsBlock::factorise(const double* t) const {
  Vec p = joint_;
  for (Index i = 0; i < m_; ++i)
    for (Index j = 0; j <= i; ++j) p[i * m_ + j] += t[at_[packed(i, j)]];
  return Cholesky(p.data(), m_, least_pivot_.data());
}

// Solves M̂ L_V̂ = (the rows of L below L_V̂).
Vec EffectsBlock::coefficients(const Cholesky& chol) const {
  const Index e = prior_.e, d = prior_.d;
  const double* l = chol.factor().data();
  Vec out(static_cast<std::size_t>(d * e));
  for (Index i = 0; i < d; ++i)
    for (Index j = e - 1; j >= 0; --j) {
      double sum = l[(e + i) * m_ + j];
      for (Index k = j + 1; k < e; ++k) sum -= out[i * e + k] * l[k * m_ + j];
      out[i * e + j] = sum / l[j * m_ + j];
    }
  return out;
}

Vec EffectsBlock::scale(const Cholesky& chol) const {
  const Index e = prior_.e, d = prior_.d;
  const double* l = chol.factor().data();
  Vec out(static_cast<std::size_t>(d * d), 0.0);
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j)
      for (Index k = 0; k <= std::min(i, j); ++k)
        out[i * d + j] += l[(e + i) * m_ + e + k] * l[(e + j) * m_ + e + k];
  return out;
}

double EffectsBlock::value(const double* t, const Cholesky& chol) const {
  const Index e = prior_.e, d = prior_.d;
  const double n = std::max(t[count_], 0.0), all = static_cast<double>(d);
  const double rows = n * (prior_.log_jacobian - 0.5 * all * log_2pi);
  if (prior_.known.empty())
    return rows + log_z(prior_.df + n, chol.log_det(0, e), chol.log_det(e, m_)) - log_z_prior_;
  const Vec own = scale(chol);
  double trace = 0;
  for (Index k = 0; k < d; ++k)
    for (Index i = 0; i <= k; ++i)
      for (Index j = 0; j <= k; ++j)
        trace += known_root_[k * d + i] * known_root_[k * d + j] * (own[i * d + j] - prior_.scale[i * d + j]);
  return rows - 0.5 * n * log_det_known_ - 0.5 * trace + 0.5 * all * (log_det_v_ - chol.log_det(0, e));
}

double EffectsBlock::log_evidence(const double* t) const { return value(t, factorise(t)); }

// Adds the weights of log p(y | z) = ½ log|Λ| − ½ |R (y − M z)|² + constant, RᵀR = Λ.
void EffectsBlock::add_likelihood(const Vec& coef, const Vec& root, double log_det, double* w) const {
  const Index e = prior_.e, d = prior_.d;
  w[count_] += prior_.log_jacobian + 0.5 * (log_det - static_cast<double>(d) * log_2pi);
  Vec g(static_cast<std::size_t>(m_));
  for (Index k = 0; k < d; ++k) {
    std::fill(g.begin(), g.end(), 0.0);
    for (Index i = 0; i < d; ++i) {
      g[e + i] += root[k * d + i];
      for (Index j = 0; j < e; ++j) g[j] -= root[k * d + i] * coef[i * e + j];
    }
    for (Index a = 0; a < m_; ++a)
      for (Index b = 0; b <= a; ++b) w[at_[packed(a, b)]] -= (a == b ? 0.5 : 1) * g[a] * g[b];
  }
}

double EffectsBlock::add_weights(const double* t, double* w) const {
  const Index e = prior_.e, d = prior_.d;
  const double n = std::max(t[count_], 0.0), all = static_cast<double>(d);
  const Cholesky chol = factorise(t);
  const Vec inverse = chol.inverse_factor();
  Vec root = known_root_;
  double log_det = -log_det_known_;
  if (prior_.known.empty()) {
    const double df = prior_.df + n;
    root.assign(static_cast<std::size_t>(d * d), 0.0);
    for (Index i = 0; i < d; ++i)
      for (Index j = 0; j <= i; ++j) root[i * d + j] = std::sqrt(df) * inverse[(e + i) * m_ + e + j];
    log_det = multidigamma(d, 0.5 * df) + all * log_2 - chol.log_det(e, m_);
  }
  add_likelihood(coefficients(chol), root, log_det, w);
  for (Index k = 0; k < e; ++k)  // −(D/2) V̂⁻¹
    for (Index a = 0; a <= k; ++a)
      for (Index b = 0; b <= a; ++b)
        w[at_[packed(a, b)]] -= (a == b ? 0.5 : 1) * all * inverse[k * m_ + a] * inverse[k * m_ + b];
  return value(t, chol);
}

EffectsPosterior EffectsBlock::posterior(const double* t) const {
  const Index e = prior_.e, d = prior_.d;
  const double n = std::max(t[count_], 0.0);
  const Cholesky chol = factorise(t);
  EffectsPosterior out{coefficients(chol), prior_.precision, prior_.known,
                       std::numeric_limits<double>::infinity(), scale(chol)};
  for (Index i = 0; i < e; ++i)
    for (Index j = 0; j < e; ++j) out.precision[i * e + j] += t[at_[packed(i, j)]];
  if (!prior_.known.empty()) return out;
  out.df = prior_.df + n;
  out.covariance = out.scale;
  for (double& x : out.covariance) x /= std::max(out.df - static_cast<double>(d) - 1, 1.0);
  return out;
}

void EffectsBlock::point_estimate(const double* t, double rows, double* mean, double* w) const {
  const Index e = prior_.e, d = prior_.d;
  const EffectsPosterior q = posterior(t);
  // Second moments of the regressors of one row; if v_0 = 1, that of v_0 is 1.
  const double count = count_ == at_[0] ? q.precision[0] : std::max(t[count_], 1.0);
  Vec v(static_cast<std::size_t>(m_ * m_), 0.0);
  for (Index i = 0; i < e; ++i)
    for (Index j = 0; j < e; ++j) v[i * m_ + j] = q.precision[i * e + j] / count;
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < e; ++j)
      for (Index l = 0; l < e; ++l) v[(e + i) * m_ + j] += q.coef[i * e + l] * v[l * m_ + j];
  for (Index i = 0; i < d; ++i)
    for (Index j = 0; j < d; ++j) {
      v[(e + i) * m_ + e + j] = q.covariance[i * d + j];
      for (Index l = 0; l < e; ++l) v[(e + i) * m_ + e + j] += v[(e + i) * m_ + l] * q.coef[j * e + l];
    }
  for (Index i = 0; i < m_; ++i)
    for (Index j = 0; j <= i; ++j) mean[at_[packed(i, j)]] = rows * v[i * m_ + j];
  mean[count_] = rows;
  const Cholesky chol(q.covariance.data(), d);
  add_likelihood(q.coef, chol.inverse_factor(), -chol.log_det(0, d), w);
}

void EffectsBlock::draw(const double* t, Stream& stream, double* w) const {
  const Index e = prior_.e, d = prior_.d;
  const Cholesky chol = factorise(t);
  const Vec inverse = chol.inverse_factor();
  Vec root = known_root_;
  double log_det = -log_det_known_;
  if (prior_.known.empty()) {  // C L_B̂⁻¹ [Bartlett 1933]
    const double df = prior_.df + std::max(t[count_], 0.0);
    Vec c(static_cast<std::size_t>(d * d), 0.0);
    log_det = -chol.log_det(e, m_);
    for (Index i = 0; i < d; ++i) {
      for (Index j = 0; j < i; ++j) c[i * d + j] = draw_normal(stream);
      const double log_square = log_2 + draw_log_gamma(0.5 * (df - static_cast<double>(d - 1 - i)), stream);
      c[i * d + i] = std::exp(0.5 * log_square);
      log_det += log_square;
    }
    root.assign(c.size(), 0.0);
    for (Index i = 0; i < d; ++i)
      for (Index j = 0; j <= i; ++j)
        for (Index k = j; k <= i; ++k) root[i * d + j] += c[i * d + k] * inverse[(e + k) * m_ + e + j];
  }
  // M = M̂ + R⁻¹ Z L_V̂⁻¹, R lower triangular.
  Vec coef = coefficients(chol), away(static_cast<std::size_t>(d * e), 0.0);
  for (Index i = 0; i < d; ++i) {
    for (Index k = 0; k < e; ++k) {
      const double z = draw_normal(stream);
      for (Index j = 0; j <= k; ++j) away[i * e + j] += z * inverse[k * m_ + j];
    }
    for (Index j = 0; j < e; ++j) {
      for (Index k = 0; k < i; ++k) away[i * e + j] -= root[i * d + k] * away[k * e + j];
      away[i * e + j] /= root[i * d + i];
    }
  }
  for (std::size_t i = 0; i < coef.size(); ++i) coef[i] += away[i];
  add_likelihood(coef, root, log_det, w);
}

double EffectsBlock::strain() const {
  double most = 1;
  for (Index i = 0; i < m_; ++i) most = std::max(most, joint_[i * m_ + i] / least_pivot_[i]);
  return most;
}

Vec EffectsBlock::best_known(const double* t, Index k, Index p) const {
  Vec out = prior_.scale;
  double n = 0;
  for (Index j = 0; j < k; ++j) {
    n += std::max(t[j * p + count_], 0.0);
    const Vec own = scale(factorise(t + j * p));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += own[i] - prior_.scale[i];
  }
  for (double& x : out) x /= n + prior_.df + static_cast<double>(prior_.d) + 1;
  return out;
}

double EffectsBlock::log_hyperprior() const {
  const Index d = prior_.d;
  const Cholesky given(prior_.scale.data(), d);
  double trace = 0;
  for (Index k = 0; k < d; ++k)
    for (Index i = 0; i <= k; ++i)
      for (Index j = 0; j <= k; ++j)
        trace += known_root_[k * d + i] * known_root_[k * d + j] * prior_.scale[i * d + j];
  const double all = static_cast<double>(d);
  return 0.5 * (prior_.df + all + 1) * (given.log_det(0, d) - log_det_known_) - 0.5 * trace -
         0.5 * prior_.df * all * log_2 - log_multigamma(d, 0.5 * prior_.df);
}

}  // namespace bnpvi
