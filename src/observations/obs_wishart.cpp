#include "observations/obs_wishart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "foundation/special.h"
#include "foundation/variates.h"
#include "kernels/kernels.h"
#include "observations/gram.h"

namespace bnpvi {

namespace {
constexpr Index gather_size = 4096;  // doubles on the stack, as features() does not allocate: a guess
}  // namespace

WishartModel::WishartModel(const WishartParameters& prior, const Columns& columns, bool one_first)
    : e_(prior.e),
      d_(prior.d),
      m_(e_ + d_),
      offset_(one_first ? 0 : 1),
      df_(prior.df),
      columns_(columns),
      given_(prior),
      prior_(static_cast<std::size_t>(m_ * m_)) {
  if (m_ > gather_size) throw std::invalid_argument("too many columns for a model with full covariance");
  const Cholesky v(prior.precision.data(), e_), b(prior.scale.data(), d_);
  log_z_prior_ = log_z(df_, v.log_det(0, e_), b.log_det(0, d_));
  if (!columns_.cell.empty()) {
    cell_.assign(static_cast<std::size_t>(e_), 0.0);
    cell_.insert(cell_.end(), columns_.cell.begin(), columns_.cell.begin() + d_);
  }
  double log_jacobian = 0;
  for (Index i = 0; i < d_; ++i) log_jacobian -= std::log(columns_.unit[i]);
  row_constant_ = log_jacobian - 0.5 * static_cast<double>(d_) * log_2pi;
  if (constant_regressors()) prepare_row_estimates(b);
  least_pivot_ = v.pivots();
  const Vec pivots_b = b.pivots();
  least_pivot_.insert(least_pivot_.end(), pivots_b.begin(), pivots_b.end());

  Vec l(prior_.size(), 0.0);
  for (Index i = 0; i < e_; ++i)
    for (Index j = 0; j <= i; ++j) l[i * m_ + j] = v.factor()[i * e_ + j];
  for (Index i = 0; i < d_; ++i) {
    for (Index j = 0; j < e_; ++j)
      for (Index k = j; k < e_; ++k) l[(e_ + i) * m_ + j] += prior.coef[i * e_ + k] * v.factor()[k * e_ + j];
    for (Index j = 0; j <= i; ++j) l[(e_ + i) * m_ + e_ + j] = b.factor()[i * d_ + j];
  }
  add_outer_gram(l.data(), m_, prior_.data());
}

void WishartModel::features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const {
  double v[gather_size];
  const Index chunk = gather_size / m_;
  for (Index start = 0; start < n; start += chunk) {
    const Index size = std::min(chunk, n - start);
    double* out = phi + start * ld;
    gather_rows(data, rows + start, size, v);
    for (Index i = 0; i < size; ++i) {
      const double inverse = bring_near(m_, v + i * m_);
      out[i * ld] = inverse * inverse;
    }
    kernels().packed_outer(size, m_, v, m_, out + offset_, ld);
    add_cells(cell_, size, out, ld, offset_);
  }
}

Capabilities WishartModel::capabilities() const {
  Capabilities out;
  out.far_rows = true;
  out.units = this;
  if (!inverse_scale_.empty()) out.row_estimates = this;
  if (cell_.empty()) out.urn = this;
  return out;
}

double WishartModel::strain() const {
  double most = 1;
  for (Index i = 0; i < m_; ++i) {
    const double ratio = prior_[i * m_ + i] / least_pivot_[i];
    most = std::isnan(ratio) ? std::numeric_limits<double>::infinity() : std::max(most, ratio);
  }
  return most;
}

void WishartModel::re_express(const ObsModel& from, double* t) const {
  const ColumnChange change(same_kind<WishartModel>(from).columns_, columns_);
  Vec scale(static_cast<std::size_t>(m_), 1.0), shift(static_cast<std::size_t>(m_), 0.0), sum(shift);
  double* moment = t + offset_;
  for (Index i = 0; i < m_; ++i) {
    const Index j = column_of(i);
    if (j < 0) {
      for (Index k = 0; k < m_; ++k) sum[k] = moment[packed(std::max(i, k), std::min(i, k))];
    } else {
      scale[i] = change.scale[j];
      shift[i] = change.shift[j];
    }
  }
  for (Index i = 0; i < m_; ++i)
    for (Index j = 0; j <= i; ++j) {
      double& value = moment[packed(i, j)];
      value = scale[i] * scale[j] * value + scale[i] * shift[j] * sum[i] + shift[i] * scale[j] * sum[j] +
              shift[i] * shift[j] * t[0];
    }
}

Cholesky WishartModel::factorise(const double* t) const {
  Vec p = prior_;
  for (Index i = 0; i < m_; ++i)
    for (Index j = 0; j <= i; ++j) p[i * m_ + j] += t[offset_ + packed(i, j)];
  return Cholesky(p.data(), m_, least_pivot_.data());
}

double WishartModel::log_z(double df, double log_det_v, double log_det_b) const {
  const double d = static_cast<double>(d_);
  return 0.5 * df * (d * log_2 - log_det_b) + log_multigamma(d_, 0.5 * df) - 0.5 * d * log_det_v;
}

double WishartModel::log_evidence(const double* t) const { return log_evidence(t, factorise(t)); }

double WishartModel::log_evidence(const double* t, const Cholesky& chol) const {
  return log_z(df_ + t[0], chol.log_det(0, e_), chol.log_det(e_, m_)) - log_z_prior_ + t[0] * row_constant();
}

// Computes w −= Σ_k c_k l_k l_kᵀ in packed form, with l_k the rows of L⁻¹ and c_k = `regressor` for k < E,
// `response` after that. Row k ends at its diagonal, so that the products of the first rows need few
// columns.
void WishartModel::subtract_quadratic(const Cholesky& chol, double regressor, double response,
                                      double* w) const {
  constexpr Index at_once = 16;  // rows in each product: a guess
  const Vec inverse = chol.inverse_factor();
  Vec scaled = inverse, sum(inverse.size(), 0.0);
  for (Index k = 0; k < m_; ++k)
    for (Index i = 0; i <= k; ++i) scaled[k * m_ + i] *= k < e_ ? regressor : response;
  for (Index from = 0, to; from < m_; from = to) {
    to = std::min(from + at_once, m_);
    kernels().add_product_tn(to - from, to, to, scaled.data() + from * m_, m_, inverse.data() + from * m_, m_,
                             sum.data(), m_);
  }
  for (Index i = 0; i < m_; ++i) {
    double* out = w + packed(i, 0);
    for (Index j = 0; j < i; ++j) out[j] -= 2 * sum[i * m_ + j];
    out[i] -= sum[i * m_ + i];
  }
}

void WishartModel::weights(const double* t, double* w) const { weights(t, factorise(t), w); }

double WishartModel::evidence_and_weights(const double* t, double* w) const {
  const Cholesky chol = factorise(t);
  weights(t, chol, w);
  return log_evidence(t, chol);
}

void WishartModel::weights(const double* t, const Cholesky& chol, double* w) const {
  const double df = df_ + t[0], d = static_cast<double>(d_);
  std::fill(w, w + n_features(), 0.0);
  subtract_quadratic(chol, 0.5 * d, 0.5 * df, w + offset_);
  w[0] += 0.5 * (multidigamma(d_, 0.5 * df) + d * log_2 - chol.log_det(e_, m_)) + row_constant();
}

void WishartModel::point_estimate(const double* t, double* mean, double* w) const {
  const Cholesky chol = factorise(t);
  const double df = std::max(df_ + t[0] - static_cast<double>(d_) - 1, 1.0);
  const double count = offset_ == 0 ? chol.pivots()[0] : std::max(t[0], 1.0);
  const double* l = chol.factor().data();
  mean[0] = 1;
  for (Index i = 0; i < m_; ++i)
    for (Index j = 0; j <= i; ++j) {
      double sum = 0;
      for (Index k = 0; k <= j; ++k) sum += l[i * m_ + k] * l[j * m_ + k] / (k < e_ ? count : df);
      mean[offset_ + packed(i, j)] = sum;
    }
  std::fill(w, w + n_features(), 0.0);
  subtract_quadratic(chol, 0, 0.5 * df, w + offset_);
  w[0] += row_constant() + 0.5 * (static_cast<double>(d_) * std::log(df) - chol.log_det(e_, m_));
}

void WishartModel::draw(const double* t, Stream& stream, double* w) const {
  const Cholesky chol = factorise(t);
  const Vec inverse = chol.inverse_factor();
  const double df = df_ + t[0];
  Vec root(static_cast<std::size_t>(m_)), g(root.size());
  std::fill(w, w + n_features(), 0.0);
  w[0] = row_constant() - 0.5 * chol.log_det(e_, m_);
  double* quadratic = w + offset_;
  for (Index i = 0; i < d_; ++i) {
    for (Index j = 0; j < e_ + i; ++j) root[j] = draw_normal(stream);
    const double log_square = log_2 + draw_log_gamma(0.5 * (df - static_cast<double>(d_ - 1 - i)), stream);
    root[e_ + i] = std::exp(0.5 * log_square);
    w[0] += 0.5 * log_square;
    std::fill(g.begin(), g.end(), 0.0);
    for (Index k = 0; k <= e_ + i; ++k)
      for (Index j = 0; j <= k; ++j) g[j] += root[k] * inverse[k * m_ + j];
    for (Index a = 0; a <= e_ + i; ++a)
      for (Index b = 0; b <= a; ++b) quadratic[packed(a, b)] -= (a == b ? 0.5 : 1) * g[a] * g[b];
  }
}

Vec WishartModel::coefficients(const Cholesky& chol, const Vec& inverse) const {
  Vec out(static_cast<std::size_t>(d_ * e_), 0.0);
  for (Index i = 0; i < d_; ++i)
    for (Index k = 0; k < e_; ++k)
      for (Index j = 0; j <= k; ++j)
        out[i * e_ + j] += chol.factor()[(e_ + i) * m_ + k] * inverse[k * m_ + j];
  return out;
}

WishartParameters WishartModel::posterior_parameters(const double* t) const {
  const Cholesky chol = factorise(t);
  const double* l = chol.factor().data();
  const Vec inverse = chol.inverse_factor();
  WishartParameters q{e_,
                      d_,
                      df_ + t[0],
                      coefficients(chol, inverse),
                      Vec(static_cast<std::size_t>(e_ * e_), 0.0),
                      Vec(static_cast<std::size_t>(d_ * d_), 0.0)};
  for (Index i = 0; i < e_; ++i)
    for (Index j = 0; j < e_; ++j)
      for (Index k = 0; k <= std::min(i, j); ++k) q.precision[i * e_ + j] += l[i * m_ + k] * l[j * m_ + k];
  for (Index i = e_; i < m_; ++i)
    for (Index j = e_; j < m_; ++j)
      for (Index k = e_; k <= std::min(i, j); ++k)
        q.scale[(i - e_) * d_ + j - e_] += l[i * m_ + k] * l[j * m_ + k];
  return q;
}

std::vector<WishartParameters> WishartModel::posterior_parameters(const double* t, Index k) const {
  std::vector<WishartParameters> out;
  for (Index i = 0; i < k; ++i) out.push_back(posterior_parameters(t + i * n_features()));
  return out;
}

ExpectedClusters WishartModel::expected_cluster(const double* t, const Vec& regressors) const {
  const Cholesky chol = factorise(t);
  const Vec inverse = chol.inverse_factor();
  const double df = df_ + t[0], d = static_cast<double>(d_);
  ExpectedClusters out{log_evidence(t, chol), {1.0}, Vec(static_cast<std::size_t>(d_ * d_), 0.0), {}, 0};
  add_inner_gram(inverse.data() + e_ * m_ + e_, m_, d_, out.precision.data());
  for (Index i = 0; i < d_; ++i)
    for (Index j = 0; j <= i; ++j)
      out.precision[i * d_ + j] = out.precision[j * d_ + i] = df * out.precision[i * d_ + j];
  if (e_ == 0) return out;
  Vec offset = coefficients(chol, inverse);
  for (Index i = 0; i < d_ * e_; ++i) offset[i] -= given_.coef[i];
  out.weighted_offset.resize(offset.size());
  for (Index i = 0; i < d_; ++i)
    for (Index j = 0; j < d_; ++j)
      for (Index r = 0; r < e_; ++r)
        out.weighted_offset[i * e_ + r] += out.precision[i * d_ + j] * offset[j * e_ + r];
  for (Index r = 0; r < e_; ++r)
    for (Index s = 0; s < e_; ++s) {
      double square = 0;
      for (Index k = std::max(r, s); k < e_; ++k) square += d * inverse[k * m_ + r] * inverse[k * m_ + s];
      for (Index i = 0; i < d_; ++i) square += offset[i * e_ + r] * out.weighted_offset[i * e_ + s];
      out.mean_spread += regressors[r * e_ + s] * square;
    }
  return out;
}

NamedArray WishartModel::df_array(const std::vector<WishartParameters>& q) const {
  NamedArray out{"df", {}, {}};
  for (const auto& cluster : q) out.value.push_back(cluster.df);
  return out;
}

NamedArray WishartModel::scale_array(const std::vector<WishartParameters>& q) const {
  NamedArray out{"scale", {}, {d_, d_, static_cast<Index>(q.size())}};
  const Vec& unit = columns_.unit;
  for (const auto& cluster : q)
    for (Index i = 0; i < d_; ++i)
      for (Index j = 0; j < d_; ++j) out.value.push_back(cluster.scale[i * d_ + j] * unit[i] * unit[j]);
  return out;
}

NamedArray WishartModel::covariance_array(const std::vector<WishartParameters>& q) const {
  NamedArray out = scale_array(q);
  out.name = "cov";
  auto value = out.value.begin();
  for (const auto& cluster : q) {
    const double divisor = cluster.df - static_cast<double>(d_) - 1;
    for (Index i = 0; i < d_ * d_; ++i, ++value)
      *value = divisor > 0 ? *value / divisor : std::numeric_limits<double>::infinity();
  }
  return out;
}

}  // namespace bnpvi
