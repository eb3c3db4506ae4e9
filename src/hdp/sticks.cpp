#include "hdp/sticks.h"

#include <algorithm>
#include <cmath>

#include "foundation/lbfgs.h"
#include "foundation/special.h"

namespace bnpvi {

namespace {

constexpr double least_stick = 1e-12;

double logistic(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

// Term k of L_top at Beta(a, b).
double stick_value(double gamma, double c1, double c0, double a, double b) {
  const double both = digamma(a + b);
  return log_beta(a, b) - log_beta(1, gamma) + (c1 - a) * (digamma(a) - both) +
         (c0 - b) * (digamma(b) - both);
}

// The function of x = scale ∘ (logit û, log ω̂) that is maximised.
class Objective {
 public:
  Objective(const TopLevel& top, const WeightFunction& f, const Vec& scale)
      : top_(top),
        f_(f),
        scale_(scale),
        k_(static_cast<Index>(top.c0.size())),
        by_pi_(static_cast<std::size_t>(k_ + 1)) {}

  double operator()(const Vec& x, Vec& gradient) {
    double value = 0;
    Vec pi(static_cast<std::size_t>(k_ + 1));
    double rest = 1;
    for (Index j = 0; j < k_; ++j) {
      const double y = x[j] / scale_[j];
      const double u = logistic(y), v = logistic(-y), w = std::exp(x[k_ + j] / scale_[k_ + j]);
      const double a = u * w, b = v * w;
      value += stick_value(top_.gamma, top_.c1, top_.c0[j], a, b);
      const double both = (top_.c1 - a + top_.c0[j] - b) * trigamma(a + b);
      const double by_a = a > 0 ? (top_.c1 - a) * trigamma(a) - both : 0;
      const double by_b = b > 0 ? (top_.c0[j] - b) * trigamma(b) - both : 0;
      gradient[j] = u * v * w * (by_a - by_b);
      gradient[k_ + j] = a * by_a + b * by_b;
      pi[j] = rest * u;
      rest *= v;
    }
    pi[k_] = rest;
    std::fill(by_pi_.begin(), by_pi_.end(), 0.0);
    value += f_(pi, by_pi_);
    double after = by_pi_[k_] * pi[k_];  // Σ_{l>j} π_l ∂f/∂π_l
    for (Index j = k_ - 1; j >= 0; --j) {
      const double u = logistic(x[j] / scale_[j]);
      gradient[j] += (1 - u) * pi[j] * by_pi_[j] - u * after;
      after += by_pi_[j] * pi[j];
    }
    for (Index j = 0; j < 2 * k_; ++j) gradient[j] /= scale_[j];
    return value;
  }

 private:
  const TopLevel& top_;
  const WeightFunction& f_;
  const Vec& scale_;
  Index k_;
  Vec by_pi_;
};

// Roots of the objective's curvature at q, about: −d²/d(logit û_j)² = û (1 − û) (c1 + c0_j + Σ_{l≥j} ∂f/∂log
// π_l) where f is linear in log π, and −d²/d(log ω̂)² = 1/2.
Vec scales(const TopLevel& top, const WeightFunction& f, const HdpSticks& q) {
  const std::size_t k = q.u.size();
  const Vec pi = weights_from_sticks(q.u);
  Vec by_pi(k + 1), scale(2 * k, std::sqrt(0.5));
  f(pi, by_pi);
  double after = by_pi[k] * pi[k];
  for (std::size_t j = k; j-- > 0;) {
    after += by_pi[j] * pi[j];
    scale[j] = std::sqrt(std::max(0.5, q.u[j] * (1 - q.u[j]) * (top.c1 + top.c0[j] + after)));
  }
  return scale;
}

}  // namespace

Vec weights_from_sticks(const Vec& u) {
  Vec pi;
  pi.reserve(u.size() + 1);
  double rest = 1;
  for (double x : u) {
    pi.push_back(rest * x);
    rest *= 1 - x;
  }
  pi.push_back(rest);
  return pi;
}

Vec sticks_from_weights(const Vec& weights) {
  Vec u(weights.size() - 1);
  double rest = weights.back();
  for (std::size_t j = u.size(); j-- > 0;) {
    rest += weights[j];
    u[j] = std::clamp(weights[j] / rest, least_stick, 1 - least_stick);
  }
  return u;
}

TopLevel top_level(Index k, double groups, double gamma) {
  TopLevel top{gamma, groups + 1, Vec(static_cast<std::size_t>(k))};
  for (Index j = 0; j < k; ++j) top.c0[j] = groups * static_cast<double>(k - j) + gamma;
  return top;
}

double top_value(const TopLevel& top, const HdpSticks& q) {
  double sum = 0;
  for (std::size_t j = 0; j < q.u.size(); ++j)
    sum += stick_value(top.gamma, top.c1, top.c0[j], q.u[j] * q.omega[j], (1 - q.u[j]) * q.omega[j]);
  return sum;
}

HdpSticks maximise_sticks(const TopLevel& top, const WeightFunction& f, const HdpSticks& from) {
  const std::size_t k = top.c0.size();
  HdpSticks q = from;
  if (q.u.size() != k || q.omega.size() != k) {
    q.u.resize(k);
    q.omega.resize(k);
    for (std::size_t j = 0; j < k; ++j) {
      q.omega[j] = top.c1 + top.c0[j];
      q.u[j] = top.c1 / q.omega[j];
    }
  }
  const Vec scale = scales(top, f, q);
  Vec x(2 * k);
  for (std::size_t j = 0; j < k; ++j) {
    x[j] = scale[j] * (std::log(q.u[j]) - std::log1p(-q.u[j]));
    x[k + j] = scale[k + j] * std::log(q.omega[j]);
  }
  const Vec start = x;
  maximise(Objective(top, f, scale), x);
  if (x == start) return q;
  for (std::size_t j = 0; j < k; ++j) {
    q.u[j] = std::clamp(logistic(x[j] / scale[j]), least_stick, 1 - least_stick);
    q.omega[j] = std::exp(x[k + j] / scale[k + j]);
  }
  return q;
}

}  // namespace bnpvi
