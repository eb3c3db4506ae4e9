// The two upper bounds of E log Γ(1 + α e π_k) whose minimum is g_c of TopicPart (topic_tilt.h), for one
// topic k and one covariate pattern c, and their derivatives. e = exp(x_c'λ_k) is the factor of the pattern.
#pragma once
#include <vector>

#include "kernels/kernels.h"
#include "topics/model/topic_tilt.h"

namespace bnpvi::topics {

inline constexpr double half_zeta_2 = 0.8224670334241132;  // ½ ψ'(1)

// A bound g and its derivatives by log E e, by log E e² (its log square), by E π_k and by Var π_k.
struct Normaliser {
  double value, by_log_factor, by_log_square, by_mean, by_variance;
};

// The first bound, linear in E π_k:  E π_k [log Γ(1 + α E e) + ½ ζ(2) α² Var e].  Arguments: factor = E e,
// square = E e², mean = E π_k; log_gamma and psi: log Γ and ψ at 1 + α E e.
inline Normaliser chord(double alpha, double factor, double square, double mean, double log_gamma,
                        double psi) {
  const double z = half_zeta_2 * alpha * alpha, each = log_gamma + z * (square - factor * factor);
  return {mean * each, mean * (alpha * factor * psi - 2 * z * factor * factor), mean * z * square, each, 0};
}

// The second bound, curved in E π_k:  log Γ(1 + α E e E π_k) + ½ ζ(2) α² Var(e π_k).  Arguments as in
// chord(), with variance = Var π_k; log_gamma and psi: log Γ and ψ at 1 + α E e E π_k.
inline Normaliser curve(double alpha, double factor, double square, double mean, double variance,
                        double log_gamma, double psi) {
  const double z = half_zeta_2 * alpha * alpha, a = alpha * factor * mean;
  return {log_gamma + z * (square * (variance + mean * mean) - factor * factor * mean * mean),
          a * psi - 2 * z * factor * factor * mean * mean, z * square * (variance + mean * mean),
          alpha * factor * psi + 2 * z * mean * (square - factor * factor), z * square};
}

// x ψ'(1 + x) with a relative error of at most 1.4 %. This is enough for the curvatures of Newton steps,
// whose result is judged by the exact value.
inline double near_trigamma(double x) {
  const double inverse = 1 / (1 + x);
  return x * inverse * (1 + inverse * (0.5 + inverse / 6));
}

// Second derivatives of a bound g: twice by η = x_c'm, by η and log E π_k, and twice by log E π_k.
struct Curvature {
  double by_slope, cross, by_log_mean;
};

// The second derivatives of chord() and curve(), for the same arguments. g: the value that chord() returned.
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

// Computes log Γ for several covariate patterns in one call: at 1 + α E e E π_k (the argument in curve()) for
// each pattern, and at 1 + α E e (the argument in chord()) for those patterns c with second[c] = 0, or for
// all patterns if `second` is null. slopes: whether ψ is computed at the same places, too.
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
  std::vector<std::size_t> chord_;  // for each pattern the place in x_ of its argument in chord()
  Vec x_, psi_;
};

}  // namespace bnpvi::topics
