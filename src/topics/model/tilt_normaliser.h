// The bounds g of TopicPart (topic_tilt.h), for one topic and covariate pattern, with their derivatives.
#pragma once
#include <vector>

#include "kernels/kernels.h"
#include "topics/model/topic_tilt.h"

namespace bnpvi::topics {

inline constexpr double half_zeta_2 = 0.8224670334241132;  // ½ ψ'(1)

// What g is at these moments, with its derivatives.
struct Normaliser {
  double value, by_log_factor, by_log_square, by_mean, by_variance;
};

// log_gamma, psi: at 1 + α E e.
inline Normaliser chord(double alpha, double factor, double square, double mean, double log_gamma,
                        double psi) {
  const double z = half_zeta_2 * alpha * alpha, each = log_gamma + z * (square - factor * factor);
  return {mean * each, mean * (alpha * factor * psi - 2 * z * factor * factor), mean * z * square, each, 0};
}

// log_gamma, psi: at 1 + α E e E π_k.
inline Normaliser curve(double alpha, double factor, double square, double mean, double variance,
                        double log_gamma, double psi) {
  const double z = half_zeta_2 * alpha * alpha, a = alpha * factor * mean;
  return {log_gamma + z * (square * (variance + mean * mean) - factor * factor * mean * mean),
          a * psi - 2 * z * factor * factor * mean * mean, z * square * (variance + mean * mean),
          alpha * factor * psi + 2 * z * mean * (square - factor * factor), z * square};
}

// xψ'(1 + x), within 1.4 %: for curvatures of steps, which need no more.
inline double near_trigamma(double x) {
  const double inverse = 1 / (1 + x);
  return x * inverse * (1 + inverse * (0.5 + inverse / 6));
}

// Second derivatives of a in η = x_c'm, in η and log E π_k, and in log E π_k.
struct Curvature {
  double by_slope, cross, by_log_mean;
};

// Of g, at the same moments.
inline Curvature curvature_of_chord(double alpha, double factor, double square, double mean,
                                    const Normaliser& g, double psi) {
  const double z = half_zeta_2 * alpha * alpha, y = alpha * factor, excess = z * (square - factor * factor);
  return {mean * (y * (psi + near_trigamma(y)) + 4 * excess), mean * (y * psi + 2 * excess), g.value};
}

inline Curvature curvature_of_curve(double alpha, double factor, double square, double mean, double variance,
                                    double psi) {
  const double z = half_zeta_2 * alpha * alpha, a = alpha * factor * mean;
  const double of_mean = a * (psi + near_trigamma(a)) + 4 * z * mean * mean * (square - factor * factor);
  return {of_mean + 4 * z * square * variance, of_mean, of_mean};
}

// log Γ and, if it is wanted, ψ at 1 + α E e E π_k of some patterns and at 1 + α E e of those that need
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

}  // namespace bnpvi::topics
