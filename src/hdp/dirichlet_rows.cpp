#include "hdp/dirichlet_rows.h"

#include <cmath>

#include "foundation/special.h"

namespace bnpvi {

namespace {

constexpr double zeta_2 = 1.6449340668482264;  // ψ'(1)

double trigamma(double x) { return (1 + trigamma_remainder(x)) / x; }

// A term and, if `slopes` is true, its derivatives in m, v and E log π.
struct Term {
  double value = 0, by_mean = 0, by_variance = 0, by_log = 0;
};

// m log Γ(1 + α) − log Γ(1 + αm) − ½ ζ(2) α² v: the gain of the second expression of g over the first
// (dirichlet_rows.h).
Term gain_of_variance(double alpha, double m, double v, bool slopes) {
  const double curvature = zeta_2 / 2 * alpha * alpha, end = log_gamma(1 + alpha);
  return {m * end - log_gamma(1 + alpha * m) - curvature * v,
          slopes ? end - alpha * digamma(1 + alpha * m) : 0, -curvature, 0};
}

// −h by the first bound, up to the constant log Γ(α + κ) and with the other terms' chords (1 − m) log Γ(1 +
// α).
Term sticky_chord(double alpha, double kappa, double m) {
  const double slope = log_gamma_difference(kappa, alpha) + log_gamma(1 + alpha);
  return {-(1 - m) * slope, slope, 0, 0};
}

// The gain of the second expression of h over the first: (1 − m) log Γ(κ) + m log Γ(κ + α) − log Γ(κ + αm) −
// ½ ψ'(κ) α² v.
Term gain_of_curve(double alpha, double kappa, double m, double v, bool slopes) {
  const double curvature = trigamma(kappa) / 2 * alpha * alpha, rise = -log_gamma_difference(kappa, alpha);
  return {m * rise + log_gamma_difference(kappa, alpha * m) - curvature * v,
          slopes ? rise - alpha * digamma(kappa + alpha * m) : 0, -curvature, 0};
}

// The gain of the third expression of h over the first.
Term gain_of_shift(double alpha, double kappa, double m, double v, double log_pi, bool slopes) {
  const double curvature = trigamma(1 + kappa) / 2 * alpha * alpha, part = alpha * std::exp(log_pi),
               rise = -log_gamma_difference(kappa, alpha);
  return {
      m * rise + log_gamma(kappa) - log_gamma(1 + kappa + alpha * m) - curvature * v + std::log(kappa + part),
      slopes ? rise - alpha * digamma(1 + kappa + alpha * m) : 0, -curvature, part / (kappa + part)};
}

// log(α + κ) − log κ.
double loose_slope(double alpha, double kappa) {
  return kappa > alpha ? std::log1p(alpha / kappa) : std::log(alpha + kappa) - std::log(kappa);
}

// Adds n times a term of cluster k to the sum and to the gradient.
void add(const Term& t, double n, std::size_t k, RoundedSum& sum, WeightMoments* gradient) {
  sum.add(n * t.value);
  if (!gradient) return;
  gradient->mean[k] += n * t.by_mean;
  gradient->variance[k] += n * t.by_variance;
  gradient->log[k] += n * t.by_log;
}

}  // namespace

void DirichletRows::add_plain(double n, double concentration) {
  plain_.push_back({n, concentration, false, {}});
}

void DirichletRows::add_sticky(Index k, double concentration, double sticky) {
  plain_.push_back({static_cast<double>(k), concentration, true, {}});
  sticky_.push_back({concentration, sticky, {}});
}

void DirichletRows::choose(const WeightMoments& pi) {
  if (bound_ == RowBound::loose) return;
  const std::size_t k = pi.mean.size() - 1;
  for (Plain& rows : plain_) {
    rows.by_variance.resize(k + 1);
    for (std::size_t j = 0; j <= k; ++j)
      rows.by_variance[j] = gain_of_variance(rows.concentration, pi.mean[j], pi.variance[j], false).value > 0;
  }
  for (Sticky& rows : sticky_) {
    rows.own.assign(k, Own::chord);
    for (std::size_t j = 0; j < k; ++j) {
      const double a = rows.concentration, kappa = rows.sticky;
      const double curve = gain_of_curve(a, kappa, pi.mean[j], pi.variance[j], false).value;
      const double shifted = gain_of_shift(a, kappa, pi.mean[j], pi.variance[j], pi.log[j], false).value;
      if (curve > 0 && curve >= shifted)
        rows.own[j] = Own::curve;
      else if (shifted > 0)
        rows.own[j] = Own::shifted;
    }
  }
}

RoundedSum DirichletRows::value(const WeightMoments& pi, WeightMoments* gradient) const {
  const std::size_t k = pi.mean.size() - 1;
  RoundedSum sum;
  for (const Sticky& rows : sticky_) {
    const double a = rows.concentration, kappa = rows.sticky;
    for (std::size_t j = 0; j < k; ++j) {
      const double m = pi.mean[j], v = pi.variance[j];
      if (bound_ == RowBound::loose) {
        const double slope = loose_slope(a, kappa);
        add({-(1 - m) * slope, slope, 0, 0}, 1, j, sum, gradient);
        continue;
      }
      add(sticky_chord(a, kappa, m), 1, j, sum, gradient);
      if (rows.own.empty() || rows.own[j] == Own::chord) continue;
      add(rows.own[j] == Own::curve ? gain_of_curve(a, kappa, m, v, gradient)
                                    : gain_of_shift(a, kappa, m, v, pi.log[j], gradient),
          1, j, sum, gradient);
    }
  }
  for (const Plain& rows : plain_)
    for (std::size_t j = 0; j < rows.by_variance.size(); ++j)
      if (rows.by_variance[j])
        add(gain_of_variance(rows.concentration, pi.mean[j], pi.variance[j], gradient),
            rows.sticky && j < k ? rows.n - 1 : rows.n, j, sum, gradient);
  return sum;
}

}  // namespace bnpvi
