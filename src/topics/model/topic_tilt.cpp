#include "topics/model/topic_tilt.h"

#include <algorithm>
#include <cmath>

#include "foundation/lbfgs.h"
#include "kernels/kernels.h"
#include "observations/linalg.h"

namespace bnpvi::topics {

namespace {

constexpr double half_zeta_2 = 0.8224670334241132;  // ½ ψ'(1)
constexpr double no_doubt = 1e10;                   // precision of effects that are not known yet to be any
constexpr double farthest = 40;                     // log E exp(x'λ) beyond which numbers would overflow
constexpr int most_steps = 50;                      // a guess: few are usual
constexpr double inner_tol = 1e-8;  // of maximise(): what is left is far below rounding of the whole bound

// What g is at these moments, with its derivatives.
struct Normaliser {
  double value, by_log_factor, by_log_square, by_mean, by_variance;
};

// log_gamma, psi: at 1 + α E e.
Normaliser chord(double alpha, double factor, double square, double mean, double log_gamma, double psi) {
  const double z = half_zeta_2 * alpha * alpha, each = log_gamma + z * (square - factor * factor);
  return {mean * each, mean * (alpha * factor * psi - 2 * z * factor * factor), mean * z * square, each, 0};
}

// log_gamma, psi: at 1 + α E e E π_k.
Normaliser curve(double alpha, double factor, double square, double mean, double variance, double log_gamma,
                 double psi) {
  const double z = half_zeta_2 * alpha * alpha, a = alpha * factor * mean;
  return {log_gamma + z * (square * (variance + mean * mean) - factor * factor * mean * mean),
          a * psi - 2 * z * factor * factor * mean * mean, z * square * (variance + mean * mean),
          alpha * factor * psi + 2 * z * mean * (square - factor * factor), z * square};
}

// log Γ and ψ, if it is asked for, at 1 + α E e E π_k of some patterns and at 1 + α E e of those that need
// it: all, or those whose g is the chord; all at once.
class Gammas {
 public:
  Gammas(const std::vector<Index>& patterns, double alpha, const TopicEffect& effect, double mean,
         bool slopes, const std::vector<char>* second = nullptr)
      : chord_(patterns.size()), x_(2 * patterns.size()) {
    std::size_t n = patterns.size();
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const Index c = patterns[i];
      x_[i] = 1 + alpha * effect.factor(c) * mean;
      if (second && (*second)[c]) continue;
      chord_[i] = n;
      x_[n++] = 1 + alpha * effect.factor(c);
    }
    x_.resize(n);
    const Index all = static_cast<Index>(x_.size());
    if (slopes) {
      psi_.resize(x_.size());
      kernels().digamma_each(all, x_.data(), psi_.data());
    }
    kernels().log_gamma_each(all, x_.data(), x_.data());
  }
  double log_gamma(std::size_t i, bool of_mean) const { return x_[of_mean ? i : chord_[i]]; }
  double psi(std::size_t i, bool of_mean) const { return psi_.empty() ? 0 : psi_[of_mean ? i : chord_[i]]; }

 private:
  std::vector<std::size_t> chord_;  // where the second of a pattern is
  Vec x_, psi_;
};

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
  if (p > 0) {
    const Cholesky chol(precision_.data(), p);
    root_ = chol.inverse_factor();
    for (double v : root_) spread_ += v * v / tilt_->variance;
    spread_ += chol.log_det(0, p) + static_cast<double>(p) * (std::log(tilt_->variance) - 1);
  }
  for (Index c = 0; c < n; ++c)
    for (Index i = 0; i < p; ++i) {
      double entry = 0;
      for (Index l = 0; l <= i; ++l) entry += root_[i * p + l] * tilt_->x[c * p + l];
      variance_[c] += entry * entry;
    }
  spread_factor_.clear();
  for (double v : variance_) spread_factor_.push_back(std::exp(v));
}

void TopicEffect::take_mean() {
  const Index p = tilt_->columns, n = tilt_->patterns;
  slope_.assign(static_cast<std::size_t>(n), 0.0);
  log_factor_.resize(static_cast<std::size_t>(n));
  factor_.resize(static_cast<std::size_t>(n));
  double square = 0;
  for (double m : mean_) square += m * m;
  divergence_ = 0.5 * (spread_ + square / tilt_->variance);
  for (Index c = 0; c < n; ++c) {
    for (Index i = 0; i < p; ++i) slope_[c] += tilt_->x[c * p + i] * mean_[i];
    log_factor_[c] = slope_[c] + variance_[c] / 2;
  }
  double top = 0;
  kernels().exp_rows(1, n, log_factor_.data(), n, factor_.data(), n, &top);
  const double largest = std::exp(top);
  for (double& e : factor_) e *= largest;
}

// Of one topic at given moments of π_k.
class EffectSearch {
 public:
  // Derivatives of the part in x_c'm and x_c'S x_c, and in the moments of π_k.
  struct Slopes {
    Vec by_slope, by_variance;
    double by_pi_mean = 0, by_pi_variance = 0;
  };

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

  // TopicPart::value(), with derivatives if `slopes` is not null. With a = α E e E π_k, log Γ(a) is
  // log Γ(1 + a) − log a and aψ(a) is aψ(1 + a) − 1, for any a.
  static RoundedSum value_of(const TopicPart& part, const TopicCounts& counts, const TopicEffect& effect,
                             const std::vector<char>& second, double mean, double variance, Slopes* slopes) {
    const double alpha = part.tilt_.alpha, log_alpha = std::log(alpha), log_mean = std::log(mean);
    const std::vector<Index>& used = part.used_;
    const Gammas gammas(used, alpha, effect, mean, slopes, &second);
    if (slopes) {
      slopes->by_slope.assign(part.n_.size(), 0.0);
      slopes->by_variance.assign(part.n_.size(), 0.0);
      slopes->by_pi_mean = slopes->by_pi_variance = 0;
    }
    RoundedSum out;
    for (std::size_t i = 0; i < used.size(); ++i) {
      const Index c = used[i];
      const double n = part.n_[c], others = n - counts.users[c], factor = effect.factor(c),
                   square = effect.square(c), a = alpha * factor * mean,
                   log_a = log_alpha + effect.log_factor(c) + log_mean, slope = counts.slope[c] + part.f_[c];
      const Normaliser g = normaliser(gammas, i, alpha, factor, square, mean, variance, second[c]);
      out.add(a * slope);
      out.add(others * (gammas.log_gamma(i, true) - log_a));
      out.add(n * (log_alpha + effect.slope(c)));
      out.add(-n * g.value);
      if (!slopes) continue;
      const double by_a = a * slope + others * (a * gammas.psi(i, true) - 1),  // times a
          by_factor = by_a - n * g.by_log_factor;
      slopes->by_slope[c] = by_factor + n - 2 * n * g.by_log_square;
      slopes->by_variance[c] = by_factor / 2 - 2 * n * g.by_log_square;
      slopes->by_pi_mean += by_a / mean - n * g.by_mean;
      slopes->by_pi_variance -= n * g.by_variance;
    }
    return out;
  }

  // TopicPart::choose().
  static std::vector<char> choose(const TopicPart& part, const TopicEffect& effect, double mean,
                                  double variance) {
    const double alpha = part.tilt_.alpha;
    const std::vector<Index>& used = part.used_;
    const Gammas gammas(used, alpha, effect, mean, false);
    std::vector<char> out(part.n_.size(), 0);
    for (std::size_t i = 0; i < used.size(); ++i) {
      const auto value = [&](bool second) {
        return normaliser(gammas, i, alpha, effect.factor(used[i]), effect.square(used[i]), mean, variance,
                          second)
            .value;
      };
      out[used[i]] = value(true) < value(false);
    }
    return out;
  }

  RoundedSum value(Slopes* slopes = nullptr) const {
    RoundedSum out = value_of(part_, counts_, at_, second_, mean_, variance_, slopes);
    out.add(-at_.divergence());
    return out;
  }

 private:
  static Normaliser normaliser(const Gammas& gammas, std::size_t i, double alpha, double factor,
                               double square, double mean, double variance, bool second) {
    const double log_gamma = gammas.log_gamma(i, second), psi = gammas.psi(i, second);
    return second ? curve(alpha, factor, square, mean, variance, log_gamma, psi)
                  : chord(alpha, factor, square, mean, log_gamma, psi);
  }

  bool within() const {
    for (Index c = 0; c < tilt_.patterns; ++c)
      if (!(2 * at_.log_factor(c) + at_.variance(c) < farthest)) return false;
    return true;
  }

 public:
  void widen() {
    Slopes slopes;
    const double before = value(&slopes).value();
    const Index p = tilt_.columns;
    Vec goal(static_cast<std::size_t>(p * p), 0.0);
    for (Index i = 0; i < p; ++i) goal[i * (p + 1)] = 1 / tilt_.variance;
    for (Index c = 0; c < tilt_.patterns; ++c) {
      const double w = std::max(0.0, -2 * slopes.by_variance[c]);
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
    Vec at(static_cast<std::size_t>(p), 0.0), by_mean(at.size());
    Slopes slopes;
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
          const RoundedSum out = value(&slopes);
          for (Index i = 0; i < p; ++i) by_mean[i] = -at_.mean_[i] / tilt_.variance;
          for (Index c = 0; c < tilt_.patterns; ++c)
            for (Index i = 0; i < p; ++i) by_mean[i] += slopes.by_slope[c] * tilt_.x[c * p + i];
          for (Index l = 0; l < p; ++l) {
            gradient[l] = 0;
            for (Index i = 0; i <= l; ++i) gradient[l] += at_.root_[l * p + i] * by_mean[i];
          }
          return out;
        },
        at, inner_tol, most_steps);
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

TopicPart::TopicPart(const TopicTilt& tilt, const Vec& n, const Vec& f) : tilt_(tilt), n_(n), f_(f) {
  for (std::size_t c = 0; c < n.size(); ++c)
    if (n[c] != 0) used_.push_back(static_cast<Index>(c));
}

std::vector<char> TopicPart::choose(const TopicEffect& effect, double mean, double variance) const {
  return EffectSearch::choose(*this, effect, mean, variance);
}

RoundedSum TopicPart::value(const TopicCounts& counts, const TopicEffect& effect,
                            const std::vector<char>& second, double mean, double variance, double* by_mean,
                            double* by_variance) const {
  EffectSearch::Slopes slopes;
  const RoundedSum out =
      EffectSearch::value_of(*this, counts, effect, second, mean, variance, by_mean ? &slopes : nullptr);
  if (!by_mean) return out;
  *by_mean += slopes.by_pi_mean;
  *by_variance += slopes.by_pi_variance;
  return out;
}

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
