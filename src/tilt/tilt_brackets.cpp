#include "tilt/tilt_brackets.h"

#include <algorithm>
#include <cmath>

#include "kernels/kernels.h"

namespace bnpvi {

namespace {

constexpr double least_rows = 1e-12;  // least number of rows of a pattern that counts
constexpr double least_sum = 1e-200;  // less has lost digits, as terms have underflowed

}  // namespace

TiltBrackets::TiltBrackets(const TiltPrior& prior, Index k, const Vec& rows)
    : k_(k), columns_(prior.columns) {
  std::vector<Index> pattern;
  for (Index c = 0; c < prior.patterns; ++c)
    if (rows[c] > least_rows) pattern.push_back(c);
  for (Index c : pattern) rows_.push_back(rows[c]);
  x_.assign(pattern.size(), 1.0);
  for (Index i = 0; i < columns_; ++i)
    for (Index c : pattern) x_.push_back(prior.x[c * columns_ + i]);
  half_variance_.assign(static_cast<std::size_t>(k_ * n()), 0.0);
}

void TiltBrackets::set_variance(Index j, const Vec& inverse) {
  Row half = row(half_variance_, j);
  half.setZero();
  Eigen::ArrayXd entry(n());
  for (Index i = 0; i < columns_; ++i) {
    entry.setZero();
    for (Index l = 0; l <= i; ++l) entry += inverse[i * columns_ + l] * row(x_, 1 + l);
    half += entry * entry / 2;
  }
}

RoundedSum TiltBrackets::evaluate(const Vec& log_mean, const Vec& mean) {
  width_ = log_mean[k_] == -INFINITY ? k_ : k_ + 1;
  const std::size_t all = static_cast<std::size_t>(width_ * n());
  log_term_.resize(all);
  mass_.resize(all);
  log_z_.resize(rows_.size());
  for (Index j = 0; j < width_; ++j) {
    Row term = row(log_term_, j);
    if (j == k_) {
      term = log_mean[j];
      continue;
    }
    term = row(half_variance_, j) + log_mean[j];
    for (Index i = 0; i < columns_; ++i) term += mean[j * columns_ + i] * row(x_, 1 + i);
  }
  top_.setZero(n());
  if (!add_terms()) {
    top_.setConstant(n(), -INFINITY);
    for (Index j = 0; j < width_; ++j) top_ = top_.max(row(log_term_, j));
    for (Index j = 0; j < width_; ++j) row(log_term_, j) -= top_;
    add_terms();
  }
  const Row rows = row(rows_, 0);
  Row log_z = row(log_z_, 0);
  const Eigen::ArrayXd each = rows / log_z;
  for (Index j = 0; j < width_; ++j) row(mass_, j) *= scale_[j] * each;
  kernels().log_each(n(), log_z_.data(), log_z_.data());
  log_z += top_ + shift_;
  RoundedSum out;
  for (Index a = 0; a < n(); ++a) out.add(-rows_[a] * log_z_[a]);
  return out;
}

// mass_ ← exp(log_term_ − the largest of the cluster), scale_ ← what each cluster of it is multiplied by,
// shift_ ← the largest term, log_z_ ← Σ_j exp(log_term_ − shift_). Returns false if that underflows for a
// pattern.
bool TiltBrackets::add_terms() {
  scale_.resize(static_cast<std::size_t>(width_));
  kernels().exp_rows(width_, n(), log_term_.data(), n(), mass_.data(), n(), scale_.data());
  shift_ = *std::max_element(scale_.begin(), scale_.end());
  Row log_z = row(log_z_, 0);
  log_z.setZero();
  for (Index j = 0; j < width_; ++j) {
    scale_[j] = std::exp(scale_[j] - shift_);
    log_z += scale_[j] * row(mass_, j);
  }
  return n() == 0 || log_z.minCoeff() > least_sum;
}

void TiltBrackets::sums(Vec& reached, Vec& by_mean) const {
  const Index p = 1 + columns_;
  Vec sum(static_cast<std::size_t>(width_ * p), 0.0);
  if (n() > 0) kernels().product_nt(width_, p, n(), mass_.data(), n(), x_.data(), n(), sum.data(), p);
  reached.assign(static_cast<std::size_t>(k_ + 1), 0.0);
  for (Index j = 0; j < width_; ++j) reached[j] = sum[j * p];
  for (Index j = 0; j < k_; ++j)
    for (Index i = 0; i < columns_; ++i) by_mean[j * columns_ + i] -= sum[j * p + 1 + i];
}

void TiltBrackets::add_squares(Vec& to) const {
  if (n() == 0) return;
  Vec weighted(mass_.size()), sum;
  for (Index i = 0; i < columns_; ++i) {
    for (Index j = 0; j < k_; ++j) row(weighted, j) = row(mass_, j) * row(x_, 1 + i);
    sum.assign(static_cast<std::size_t>(k_ * (i + 1)), 0.0);
    kernels().product_nt(k_, i + 1, n(), weighted.data(), n(), x_.data() + n(), n(), sum.data(), i + 1);
    for (Index j = 0; j < k_; ++j)
      for (Index l = 0; l <= i; ++l) {
        double* own = to.data() + j * columns_ * columns_;
        own[i * columns_ + l] += sum[j * (i + 1) + l];
        if (l < i) own[l * columns_ + i] += sum[j * (i + 1) + l];
      }
  }
}

Vec TiltBrackets::shares(Vec* log_normalisers) const {
  Vec out(static_cast<std::size_t>(n() * (k_ + 1)), 0.0);
  for (Index j = 0; j < width_; ++j)
    for (Index a = 0; a < n(); ++a) out[a * (k_ + 1) + j] = mass_[j * n() + a];
  if (log_normalisers) *log_normalisers = log_z_;
  return out;
}

}  // namespace bnpvi
