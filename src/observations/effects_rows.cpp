#include "observations/effects_rows.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "observations/linalg.h"

namespace bnpvi {

namespace {

Index number_of(const std::vector<Index>& random) {
  const Index q = static_cast<Index>(random.size());
  if (q == 0 || q > EffectsPlaces::most) throw std::invalid_argument("internal error: 1 to 5 random effects");
  return q;
}

void check(bool good) {
  if (!good) throw std::domain_error("a covariance of effects is not positive definite");
}

Vec scratch_of(const EffectsShape& shape, Index n) {
  return Vec(static_cast<std::size_t>(effects_scratch(shape, n)));
}

}  // namespace

EffectsShape::EffectsShape(Index regressors, std::vector<Index> those)
    : EffectsPlaces(number_of(those), regressors - number_of(those)), random(std::move(those)) {
  for (Index j = 0; j < regressors; ++j)
    if (std::find(random.begin(), random.end(), j) == random.end()) fixed.push_back(j);
  if (static_cast<Index>(fixed.size()) != p)
    throw std::invalid_argument("internal error: random effects of no regressor");
}

EffectsStep::EffectsStep(const EffectsShape& shape, Index n, const double* sums, const double* w)
    : log_weight(static_cast<std::size_t>(n)),
      mean(static_cast<std::size_t>(n * shape.q)),
      covariance(static_cast<std::size_t>(n * shape.q * (shape.q + 1) / 2)) {
  const EffectsKernels& kernels = effects_kernels(shape.q);
  Vec scratch = scratch_of(shape, n);
  check(kernels.log_weights(shape, n, sums, 1, w, 0, scratch.data(), log_weight.data()) &&
        kernels.moments(shape, n, sums, w, scratch.data(), mean.data(), covariance.data()));
}

namespace {

class EffectsPattern final : public MissingPattern {
 public:
  EffectsPattern(const EffectsShape& shape, Index offset, const EffectsPredictive& predictive)
      : shape_(shape), predictive_(predictive), column_(static_cast<std::size_t>(shape.sums), 0) {
    const Index q = shape.q, p = shape.p, e = q + p;
    const auto regressor = [&](Index j) { return j < p ? shape.fixed[j] : e; };  // e is y
    const auto moment = [&](Index a, Index b) { return offset + packed(a, b); };
    for (Index j = 0; j < q; ++j) {
      for (Index k = 0; k <= j; ++k)
        column_[shape.zz + packed(j, k)] = moment(shape.random[j], shape.random[k]);
      for (Index k = 0; k < p; ++k) column_[shape.zx + j * p + k] = moment(shape.random[j], shape.fixed[k]);
      column_[shape.zy + j] = moment(e, shape.random[j]);
    }
    for (Index j = 0; j <= p; ++j)
      for (Index k = 0; k <= j; ++k)
        column_[shape.moments_of_rows + packed(j, k)] = moment(regressor(j), regressor(k));
  }

  Index n_features() const override { return shape_.sums; }
  Index n_weights() const override { return std::max(shape_.features, shape_.sums); }

  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override {
    for (Index i = 0; i < n; ++i) phi[i * ld] = 1;
    for (Index j = 1; j < shape_.sums; ++j) {
      const double* from = data.dense + column_[j] * data.n;
      for (Index i = 0; i < n; ++i) phi[i * ld + j] = from[rows[i]];
    }
  }

  void weights(const double* w, double* reduced) const override {
    std::fill_n(reduced, n_weights(), 0.0);
    std::copy_n(w, shape_.features, reduced);
  }

  void products(Index n, const double* phi, Index k, const double* reduced, double* out) const override {
    Vec scratch = scratch_of(shape_, n);
    check(
        effects_kernels(shape_.q).log_weights(shape_, n, phi, k, reduced, n_weights(), scratch.data(), out));
  }

  void expand(const double*, const double*, double*) const override {
    throw std::logic_error("internal error: individuals with effects are not linear");
  }

  void add(Index n, const double* phi, Index k, const double* r, const double* const* w,
           double* const* t) const override {
    Vec scratch = scratch_of(shape_, n);
    check(effects_kernels(shape_.q).add(shape_, n, phi, k, r, w, scratch.data(), t));
  }

  void log_predictive(const double* t, const double* phi, Index n, Index ld, double* out) const override {
    predictive_.predictive(t, phi, n, ld, out);
  }

 private:
  const EffectsShape& shape_;
  const EffectsPredictive& predictive_;
  std::vector<Index> column_;  // for each sum but the first, its column in the data
};

}  // namespace

std::unique_ptr<const MissingPattern> make_effects_pattern(const EffectsShape& shape, Index offset,
                                                           const EffectsPredictive& predictive) {
  return std::make_unique<EffectsPattern>(shape, offset, predictive);
}

}  // namespace bnpvi
