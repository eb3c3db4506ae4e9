#include "observations/effects_rows.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "foundation/special.h"
#include "observations/linalg.h"

namespace bnpvi {

EffectsShape::EffectsShape(Index regressors, std::vector<Index> those) : random(std::move(those)) {
  if (random.empty() || q() > most) throw std::invalid_argument("internal error: 1 to 8 random effects");
  for (Index j = 0; j < regressors; ++j)
    if (std::find(random.begin(), random.end(), j) == random.end()) fixed.push_back(j);
  if (q() + p() != regressors) throw std::invalid_argument("internal error: random effects of no regressor");
}

void EffectsStep::run(const double* sums, const double* w) {
  constexpr Index ld = EffectsShape::most;
  const Index q = shape_.q(), p = shape_.p();
  const double* effects = w + shape_.effects();
  const double* moments = w + shape_.moments();
  const double tau = -2 * moments[packed(p, p)];
  double product = 1;
  log_det_ = 0;
  for (Index i = 0; i < q; ++i) {
    double h = effects[packed(i + 1, 0)] + tau * sums[at_.zy + i];
    for (Index j = 0; j < p; ++j) h -= moments[packed(p, j)] * sums[at_.zx + i * p + j];
    for (Index j = 0; j <= i; ++j) {
      double sum = tau * sums[at_.zz + packed(i, j)] - (i == j ? 2 : 1) * effects[packed(i + 1, j + 1)];
      for (Index k = 0; k < j; ++k) sum -= factor_[i * ld + k] * factor_[j * ld + k];
      if (i != j) {
        factor_[i * ld + j] = sum / factor_[j * ld + j];
        h -= factor_[i * ld + j] * mean_[j];
        continue;
      }
      if (!(sum > 0) || !std::isfinite(sum))
        throw std::domain_error("a covariance of effects is not positive definite");
      product *= sum;
      if (!(product > 1e-100 && product < 1e100)) {
        log_det_ -= std::log(product);
        product = 1;
      }
      factor_[i * ld + i] = std::sqrt(sum);
    }
    mean_[i] = h / factor_[i * ld + i];  // L⁻¹h, below
  }
  log_det_ -= std::log(product);
  double square = 0;
  for (Index i = 0; i < q; ++i) square += mean_[i] * mean_[i];
  double sum = effects[0] + w[shape_.rows()] * sums[1];
  const Index n_moments = shape_.entropy() - shape_.moments();
  for (Index j = 0; j < n_moments; ++j) sum += moments[j] * sums[at_.moments + j];
  log_weight_ = sum + 0.5 * (square + log_det_ + static_cast<double>(q) * log_2pi);
  for (Index i = q - 1; i >= 0; --i) {
    for (Index k = i + 1; k < q; ++k) mean_[i] -= factor_[k * ld + i] * mean_[k];
    mean_[i] /= factor_[i * ld + i];
  }
}

void EffectsStep::find_covariance() {
  constexpr Index ld = EffectsShape::most;
  const Index q = shape_.q();
  double inverse[EffectsShape::most * EffectsShape::most];  // L⁻¹
  for (Index j = 0; j < q; ++j)
    for (Index i = j; i < q; ++i) {
      double sum = i == j ? 1 : 0;
      for (Index k = j; k < i; ++k) sum -= factor_[i * ld + k] * inverse[k * ld + j];
      inverse[i * ld + j] = sum / factor_[i * ld + i];
    }
  for (Index i = 0; i < q; ++i)
    for (Index j = 0; j <= i; ++j) {
      double sum = 0;
      for (Index k = i; k < q; ++k) sum += inverse[k * ld + i] * inverse[k * ld + j];
      covariance_[i * ld + j] = covariance_[j * ld + i] = sum;
    }
}

// The second moments of y − z'a: yy − 2 m'Z'y + tr Z'Z (mm' + S), X'y − X'Z m, X'X.
void EffectsStep::add(const double* sums, double r, double* t) const {
  const Index q = shape_.q(), p = shape_.p();
  double* effects = t + shape_.effects();
  double* moments = t + shape_.moments();
  double square = sums[at_.moments + packed(p, p)];
  effects[0] += r;
  t[shape_.rows()] += r * sums[1];
  for (Index i = 0; i < q; ++i) {
    effects[packed(i + 1, 0)] += r * mean_[i];
    square -= 2 * mean_[i] * sums[at_.zy + i];
    for (Index j = 0; j <= i; ++j) {
      const double second = mean_[i] * mean_[j] + covariance(i, j);
      effects[packed(i + 1, j + 1)] += r * second;
      square += (i == j ? 1 : 2) * second * sums[at_.zz + packed(i, j)];
    }
  }
  for (Index j = 0; j < packed(p, 0); ++j) moments[j] += r * sums[at_.moments + j];
  for (Index j = 0; j < p; ++j) {
    double cross = sums[at_.moments + packed(p, j)];
    for (Index i = 0; i < q; ++i) cross -= mean_[i] * sums[at_.zx + i * p + j];
    moments[packed(p, j)] += r * cross;
  }
  moments[packed(p, p)] += r * std::max(square, 0.0);
  t[shape_.entropy()] += r * 0.5 * (log_det_ + static_cast<double>(q) * (log_2pi + 1));
}

namespace {

class EffectsPattern final : public MissingPattern {
 public:
  EffectsPattern(const EffectsShape& shape, Index offset, const EffectsPredictive& predictive)
      : shape_(shape), at_(shape), offset_(offset), predictive_(predictive) {}

  Index n_features() const override { return at_.size; }
  Index n_weights() const override { return std::max(shape_.size(), at_.size); }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    const Index q = shape_.q(), p = shape_.p(), e = q + p;
    const auto regressor = [&](Index j) { return j < p ? shape_.fixed[j] : e; };  // or y
    for (Index i = 0; i < n; ++i) {
      double* f = phi + i * ld;
      const auto sum = [&](Index a, Index b) {
        return data.dense[(offset_ + packed(a, b)) * data.n + rows[i]];
      };
      f[0] = 1;
      f[1] = data.dense[rows[i]];
      for (Index j = 0; j < q; ++j) {
        for (Index k = 0; k <= j; ++k) f[at_.zz + packed(j, k)] = sum(shape_.random[j], shape_.random[k]);
        for (Index k = 0; k < p; ++k) f[at_.zx + j * p + k] = sum(shape_.random[j], shape_.fixed[k]);
        f[at_.zy + j] = sum(e, shape_.random[j]);
      }
      for (Index j = 0; j <= p; ++j)
        for (Index k = 0; k <= j; ++k) f[at_.moments + packed(j, k)] = sum(regressor(j), regressor(k));
    }
  }

  void weights(const double* w, double* reduced) const override {
    std::fill_n(reduced, n_weights(), 0.0);
    std::copy_n(w, shape_.size(), reduced);
  }

  void products(Index n, const double* phi, Index k, const double* reduced, double* out) const override {
    EffectsStep step(shape_);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < k; ++j) {
        step.run(phi + i * at_.size, reduced + j * n_weights());
        out[i * k + j] = step.log_weight();
      }
  }

  void expand(const double*, const double*, double*) const override {
    throw std::logic_error("internal error: individuals with effects are not linear");
  }

  void add(Index n, const double* phi, Index k, const double* r, const double* const* w,
           double* const* t) const override {
    EffectsStep step(shape_);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < k; ++j) {
        if (r[i * k + j] == 0) continue;
        step.run(phi + i * at_.size, w[j]);
        step.find_covariance();
        step.add(phi + i * at_.size, r[i * k + j], t[j]);
      }
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    predictive_.predictive(t, phi, n, ld, out);
  }

 private:
  const EffectsShape& shape_;
  EffectsSums at_;
  Index offset_;
  const EffectsPredictive& predictive_;
};

}  // namespace

std::unique_ptr<const MissingPattern> make_effects_pattern(const EffectsShape& shape, Index offset,
                                                           const EffectsPredictive& predictive) {
  return std::make_unique<EffectsPattern>(shape, offset, predictive);
}

}  // namespace bnpvi
