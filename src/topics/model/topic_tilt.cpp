#include "topics/model/topic_tilt.h"

#include <algorithm>
#include <cmath>

#include "foundation/lbfgs.h"
#include "foundation/special.h"
#include "observations/linalg.h"

namespace bnpvi::topics {

namespace {

constexpr double half_zeta_2 = 0.8224670334241132;  // ½ ψ'(1)
constexpr double no_doubt = 1e10;                   // precision of effects that are not known yet to be any
constexpr double farthest = 40;                     // log E exp(x'λ) beyond which numbers would overflow
constexpr int most_steps = 50;                      // a guess: few are usual

// What g is at these moments, with its derivatives.
struct Normaliser {
  double value, by_log_factor, by_log_square, by_mean, by_variance;
};

Normaliser chord(double alpha, double factor, double square, double mean) {
  const double z = half_zeta_2 * alpha * alpha,
               each = log_gamma(1 + alpha * factor) + z * (square - factor * factor);
  return {mean * each, mean * (alpha * factor * digamma(1 + alpha * factor) - 2 * z * factor * factor),
          mean * z * square, each, 0};
}

Normaliser curve(double alpha, double factor, double square, double mean, double variance) {
  const double z = half_zeta_2 * alpha * alpha, a = alpha * factor * mean, psi = digamma(1 + a);
  return {log_gamma(1 + a) + z * (square * (variance + mean * mean) - factor * factor * mean * mean),
          a * psi - 2 * z * factor * factor * mean * mean, z * square * (variance + mean * mean),
          alpha * factor * psi + 2 * z * mean * (square - factor * factor), z * square};
}

}  // namespace

TopicEffect::TopicEffect(const TopicTilt& tilt)
    : tilt_(&tilt),
      mean_(static_cast<std::size_t>(tilt.columns), 0.0),
      precision_(static_cast<std::size_t>(tilt.columns * tilt.columns), 0.0) {
  for (Index i = 0; i < tilt.columns; ++i) precision_[i * (tilt.columns + 1)] = no_doubt;
  take_precision();
  take_mean();
}

TopicEffect::TopicEffect(const TopicTilt& tilt, const double* stored)
    : tilt_(&tilt), mean_(stored, stored + tilt.columns) {
  const double* triangle = stored + tilt.columns;
  for (Index i = 0; i < tilt.columns; ++i)
    for (Index l = 0; l < tilt.columns; ++l) precision_.push_back(triangle[packed(i, l)]);
  take_precision();
  take_mean();
}

void TopicEffect::store(double* to) const {
  to = std::copy(mean_.begin(), mean_.end(), to);
  for (Index i = 0; i < tilt_->columns; ++i)
    for (Index l = 0; l <= i; ++l) *to++ = precision_[i * tilt_->columns + l];
}

Vec TopicEffect::covariance() const {
  const Index p = tilt_->columns;
  Vec out(static_cast<std::size_t>(p * p), 0.0);
  for (Index i = 0; i < p; ++i)
    for (Index j = 0; j < p; ++j)
      for (Index l = std::max(i, j); l < p; ++l) out[i * p + j] += root_[l * p + i] * root_[l * p + j];
  return out;
}

void TopicEffect::take_precision() {
  const Index p = tilt_->columns, n = tilt_->patterns;
  variance_ = tilt_->more_variance;
  variance_.resize(static_cast<std::size_t>(n), 0.0);
  spread_ = 0;
  if (p == 0) return;
  const Cholesky chol(precision_.data(), p);
  root_ = chol.inverse_factor();
  for (double v : root_) spread_ += v * v / tilt_->variance;
  spread_ += chol.log_det(0, p) + static_cast<double>(p) * (std::log(tilt_->variance) - 1);
  for (Index c = 0; c < n; ++c)
    for (Index i = 0; i < p; ++i) {
      double entry = 0;
      for (Index l = 0; l <= i; ++l) entry += root_[i * p + l] * tilt_->x[c * p + l];
      variance_[c] += entry * entry;
    }
}

void TopicEffect::take_mean() {
  const Index p = tilt_->columns, n = tilt_->patterns;
  slope_.assign(static_cast<std::size_t>(n), 0.0);
  log_factor_.resize(static_cast<std::size_t>(n));
  double square = 0;
  for (double m : mean_) square += m * m;
  divergence_ = 0.5 * (spread_ + square / tilt_->variance);
  for (Index c = 0; c < n; ++c) {
    for (Index i = 0; i < p; ++i) slope_[c] += tilt_->x[c * p + i] * mean_[i];
    log_factor_[c] = slope_[c] + variance_[c] / 2;
  }
}

std::vector<char> TopicPart::choose(const TopicEffect& effect, double mean, double variance) const {
  std::vector<char> out(n_.size(), 0);
  for (std::size_t c = 0; c < n_.size(); ++c) {
    const Index at = static_cast<Index>(c);
    const double factor = std::exp(effect.log_factor(at)),
                 square = std::exp(2 * effect.log_factor(at) + effect.variance(at));
    out[c] = curve(tilt_.alpha, factor, square, mean, variance).value <
             chord(tilt_.alpha, factor, square, mean).value;
  }
  return out;
}

RoundedSum TopicPart::value(const TopicCounts& counts, const TopicEffect& effect,
                            const std::vector<char>& second, double mean, double variance, double* by_mean,
                            double* by_variance) const {
  RoundedSum out;
  for (std::size_t c = 0; c < n_.size(); ++c) {
    if (n_[c] == 0) continue;
    const Index at = static_cast<Index>(c);
    const double factor = std::exp(effect.log_factor(at)),
                 square = std::exp(2 * effect.log_factor(at) + effect.variance(at)),
                 a = tilt_.alpha * factor * mean, others = n_[c] - counts.users[c];
    const Normaliser g = second[c] ? curve(tilt_.alpha, factor, square, mean, variance)
                                   : chord(tilt_.alpha, factor, square, mean);
    out.add(a * (counts.slope[c] + f_[c]));
    out.add(others * log_gamma(a));
    out.add(n_[c] * (std::log(tilt_.alpha) + effect.slope(at)));
    out.add(-n_[c] * g.value);
    if (!by_mean) continue;
    *by_mean += tilt_.alpha * factor * (counts.slope[c] + f_[c] + others * digamma(a)) - n_[c] * g.by_mean;
    *by_variance -= n_[c] * g.by_variance;
  }
  return out;
}

// Of one topic at given moments of π_k.
class EffectSearch {
 public:
  EffectSearch(const TopicPart& part, const TopicCounts& counts, const TopicEffect& from,
               const std::vector<char>& second, double mean, double variance)
      : part_(part),
        tilt_(part.tilt_),
        counts_(counts),
        at_(from),
        second_(second),
        mean_(mean),
        variance_(variance) {}

  const TopicEffect& result() const { return at_; }

  RoundedSum value() const {
    RoundedSum out = part_.value(counts_, at_, second_, mean_, variance_, nullptr, nullptr);
    out.add(-at_.divergence());
    return out;
  }

 private:
  // Derivatives of the part in x_c'm and x_c'S x_c.
  void slopes(Vec& by_slope, Vec* by_variance) const {
    const double alpha = tilt_.alpha;
    by_slope.assign(part_.n_.size(), 0.0);
    if (by_variance) by_variance->assign(part_.n_.size(), 0.0);
    for (std::size_t c = 0; c < part_.n_.size(); ++c) {
      if (part_.n_[c] == 0) continue;
      const Index at = static_cast<Index>(c);
      const double n = part_.n_[c], factor = std::exp(at_.log_factor(at)),
                   square = std::exp(2 * at_.log_factor(at) + at_.variance(at)), a = alpha * factor * mean_;
      const Normaliser g =
          second_[c] ? curve(alpha, factor, square, mean_, variance_) : chord(alpha, factor, square, mean_);
      const double by_factor =
          a * (counts_.slope[c] + part_.f_[c] + (n - counts_.users[c]) * digamma(a)) - n * g.by_log_factor;
      by_slope[c] = by_factor + n - 2 * n * g.by_log_square;
      if (by_variance) (*by_variance)[c] = by_factor / 2 - 2 * n * g.by_log_square;
    }
  }

  bool within() const {
    for (Index c = 0; c < tilt_.patterns; ++c)
      if (!(2 * at_.log_factor(c) + at_.variance(c) < farthest)) return false;
    return true;
  }

 public:
  void widen() {
    const double before = value().value();
    const Index p = tilt_.columns;
    Vec by_slope, by_variance;
    slopes(by_slope, &by_variance);
    Vec goal(static_cast<std::size_t>(p * p), 0.0);
    for (Index i = 0; i < p; ++i) goal[i * (p + 1)] = 1 / tilt_.variance;
    for (Index c = 0; c < tilt_.patterns; ++c) {
      const double w = std::max(0.0, -2 * by_variance[c]);
      for (Index i = 0; i < p; ++i)
        for (Index l = 0; l < p; ++l) goal[i * p + l] += w * tilt_.x[c * p + i] * tilt_.x[c * p + l];
    }
    const TopicEffect old = at_;
    for (double step = 1; step > 1e-3; step /= 2) {
      for (std::size_t i = 0; i < goal.size(); ++i)
        at_.precision_[i] = (1 - step) * old.precision_[i] + step * goal[i];
      at_.take_precision();
      at_.take_mean();
      if (within() && value().value() >= before) return;
    }
    at_ = old;
  }

  // L-BFGS on the mean, in standard deviations of q.
  void climb() {
    const Index p = tilt_.columns;
    const Vec from = at_.mean_;
    Vec at(static_cast<std::size_t>(p), 0.0), by_slope;
    const auto take = [&](const Vec& v) {
      for (Index i = 0; i < p; ++i) {
        double step = 0;
        for (Index l = i; l < p; ++l) step += at_.root_[l * p + i] * v[l];
        at_.mean_[i] = from[i] + step;
      }
      at_.take_mean();
    };
    maximise(
        [&](const Vec& v, Vec& gradient) {
          take(v);
          if (!within()) {
            RoundedSum outside;
            outside.add(-INFINITY);
            return outside;
          }
          slopes(by_slope, nullptr);
          Vec by_mean(static_cast<std::size_t>(p));
          for (Index i = 0; i < p; ++i) by_mean[i] = -at_.mean_[i] / tilt_.variance;
          for (Index c = 0; c < tilt_.patterns; ++c)
            for (Index i = 0; i < p; ++i) by_mean[i] += by_slope[c] * tilt_.x[c * p + i];
          for (Index l = 0; l < p; ++l) {
            gradient[l] = 0;
            for (Index i = 0; i <= l; ++i) gradient[l] += at_.root_[l * p + i] * by_mean[i];
          }
          return value();
        },
        at, 1e-9, most_steps);
    take(at);
  }

 private:
  const TopicPart& part_;
  const TopicTilt& tilt_;
  const TopicCounts& counts_;
  TopicEffect at_;
  const std::vector<char>& second_;
  const double mean_, variance_;
};

TopicEffect TopicPart::with_best_mean(const TopicCounts& counts, const TopicEffect& from,
                                      const std::vector<char>& second, double mean, double variance) const {
  EffectSearch search(*this, counts, from, second, mean, variance);
  if (tilt_.columns > 0) search.climb();
  return search.result();
}

TopicEffect TopicPart::widened(const TopicCounts& counts, const TopicEffect& from,
                               const std::vector<char>& second, double mean, double variance) const {
  EffectSearch search(*this, counts, from, second, mean, variance);
  if (tilt_.columns > 0) search.widen();
  return search.result();
}

}  // namespace bnpvi::topics
