#include "hdp/sticks.h"

#include <algorithm>
#include <cmath>

#include "foundation/lbfgs.h"
#include "foundation/special.h"

namespace bnpvi {

namespace {

constexpr double least_stick = 1e-100,
                 least_rest = 1e-12;  // of û (a guess), and of 1 − û, which has four digits there
constexpr double farthest =
    10;  // of log ω̂ from BestOmega; in 270 random objectives the best log ω̂ was at most 1.05 away
// A search is repeated with units that suit its end as long as that gains; both limits are guesses.
constexpr int max_rounds = 20;
constexpr double worth_a_round = 1e-8;   // relative gain of a round that makes another one worthwhile
constexpr double least_weight = 1e-250;  // of π_k: log Γ(απ_k) and its derivative stay finite; a guess

double logistic(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double logit(double u) { return std::log(u) - std::log1p(-u); }

// Term k of L_top at Beta(a, b).
void add_stick(RoundedSum& sum, double gamma, double c1, double c0, double a, double b) {
  sum.add(log_gamma_remainder(a));
  sum.add(log_gamma_remainder(b));
  sum.add(-log_gamma_remainder(a + b));
  sum.add(c1 * digamma_difference(a, b));
  sum.add(c0 * digamma_difference(b, a));
  sum.add(std::log(gamma));
}

// π by stick breaking, with 1 − û given too, as it has more digits than can be had from û.
Vec weights_from(const Vec& u, const Vec& rests) {
  Vec pi;
  pi.reserve(u.size() + 1);
  double rest = 1;
  for (std::size_t j = 0; j < u.size(); ++j) {
    pi.push_back(std::max(rest * u[j], least_weight));
    rest = std::max(rest * rests[j], least_weight);
  }
  pi.push_back(rest);
  return pi;
}

Vec rests_of(const Vec& u) {
  Vec rests;
  for (double x : u) rests.push_back(1 - x);
  return rests;
}

// About the best ω̂ at û and 1 − û, exactly where c1 : c0 = û : (1 − û) and in the limits of large ω̂: the sum
// of two parts, of which the first falls and the second rises with û / (1 − û).
struct BestOmega {
  BestOmega(double c1, double c0, double u, double rest)
      : falling(c1 * (rest / u)), rising(c0 * (u / rest)) {}
  double value() const { return falling + rising; }
  double slope() const { return (rising - falling) / value(); }  // of its logarithm in logit û
  double falling, rising;
};

// The function of x = scale ∘ (logit û, log ω̂ − log of BestOmega) that is maximised.
class Objective {
 public:
  Objective(const TopLevel& top, const WeightFunction& f, const Vec& scale)
      : top_(top), f_(f), scale_(scale), k_(top.c0.size()), u_(k_), v_(k_), by_pi_(k_ + 1) {}

  RoundedSum operator()(const Vec& x, Vec& gradient) {
    RoundedSum value;
    for (std::size_t j = 0; j < k_; ++j) {
      const double y = x[j] / scale_[j], z = x[k_ + j] / scale_[k_ + j];
      if (!(std::abs(z) < farthest)) value.add(-HUGE_VAL);
      u_[j] = std::clamp(logistic(y), least_stick, 1 - least_rest);
      v_[j] = std::max(logistic(-y), least_rest);
      const BestOmega best(top_.c1, top_.c0[j], u_[j], v_[j]);
      const double omega = best.value() * std::exp(z), a = u_[j] * omega, b = v_[j] * omega;
      add_stick(value, top_.gamma, top_.c1, top_.c0[j], a, b);
      const double more = top_.c1 - a, less = top_.c0[j] - b;
      const double at_a = trigamma_remainder(a), at_b = trigamma_remainder(b),
                   both = trigamma_remainder(omega);
      gradient[k_ + j] = more * (at_a - both) + less * (at_b - both);
      gradient[j] = v_[j] * more * (1 + at_a) - u_[j] * less * (1 + at_b) + best.slope() * gradient[k_ + j];
    }
    const Vec pi = weights_from(u_, v_);
    std::fill(by_pi_.begin(), by_pi_.end(), 0.0);
    value.add(f_(pi, by_pi_));
    double after = by_pi_[k_] * pi[k_];  // Σ_{l>j} π_l ∂f/∂π_l
    for (std::size_t j = k_; j-- > 0;) {
      gradient[j] += v_[j] * pi[j] * by_pi_[j] - u_[j] * after;
      after += by_pi_[j] * pi[j];
      if (u_[j] == least_stick) gradient[j] = std::max(gradient[j], 0.0);
      if (v_[j] == least_rest) gradient[j] = std::min(gradient[j], 0.0);
    }
    for (std::size_t j = 0; j < 2 * k_; ++j) gradient[j] /= scale_[j];
    return value;
  }

 private:
  const TopLevel& top_;
  const WeightFunction& f_;
  const Vec& scale_;
  std::size_t k_;
  Vec u_, v_, by_pi_;
};

HdpSticks closed_form(const TopLevel& top) {
  HdpSticks q;
  for (double c0 : top.c0) {
    q.omega.push_back(top.c1 + c0);
    q.u.push_back(top.c1 / q.omega.back());
  }
  return q;
}

// q moved to the nearest point within the bounds of û and, given û, of the best ω̂.
HdpSticks bounded(const TopLevel& top, HdpSticks q) {
  for (std::size_t j = 0; j < q.u.size(); ++j) {
    q.u[j] = std::clamp(q.u[j], least_stick, 1 - least_rest);
    const double by_u = top.c1 / q.u[j], by_rest = top.c0[j] / (1 - q.u[j]);
    q.omega[j] = std::clamp(q.omega[j], std::min(by_u, by_rest), std::max(by_u, by_rest));
  }
  return q;
}

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

// One L-BFGS search from q, in units of the curvature at q.
HdpSticks searched(const TopLevel& top, const WeightFunction& f, HdpSticks q) {
  const std::size_t k = q.u.size();
  const Vec scale = scales(top, f, q);
  const auto about = [&](std::size_t j) { return BestOmega(top.c1, top.c0[j], q.u[j], 1 - q.u[j]).value(); };
  Vec x(2 * k);
  for (std::size_t j = 0; j < k; ++j) {
    x[j] = scale[j] * logit(q.u[j]);
    x[k + j] = scale[k + j] * std::log(q.omega[j] / about(j));
  }
  const Vec start = x;
  maximise(Objective(top, f, scale), x);
  if (x == start) return q;
  for (std::size_t j = 0; j < k; ++j) {
    q.u[j] = std::clamp(logistic(x[j] / scale[j]), least_stick, 1 - least_rest);
    q.omega[j] = about(j) * std::exp(x[k + j] / scale[k + j]);
  }
  return q;
}

}  // namespace

Vec weights_from_sticks(const Vec& u) { return weights_from(u, rests_of(u)); }

Vec sticks_from_weights(const Vec& weights) {
  Vec u(weights.size() - 1);
  double rest = weights.back();
  for (std::size_t j = u.size(); j-- > 0;) {
    rest += weights[j];
    u[j] = std::clamp(weights[j] / rest, least_stick, 1 - least_rest);
  }
  return u;
}

TopLevel top_level(Index k, double groups, double gamma) {
  TopLevel top{gamma, groups + 1, Vec(static_cast<std::size_t>(k))};
  for (Index j = 0; j < k; ++j) top.c0[j] = groups * static_cast<double>(k - j) + gamma;
  return top;
}

RoundedSum top_value(const TopLevel& top, const HdpSticks& q) {
  RoundedSum sum;
  for (std::size_t j = 0; j < q.u.size(); ++j)
    add_stick(sum, top.gamma, top.c1, top.c0[j], q.u[j] * q.omega[j], (1 - q.u[j]) * q.omega[j]);
  return sum;
}

HdpSticks maximise_sticks(const TopLevel& top, const WeightFunction& f, const HdpSticks& from) {
  const std::size_t k = top.c0.size();
  Vec unused(k + 1);
  const auto value = [&](const HdpSticks& q) {
    return top_value(top, q).value() + f(weights_from_sticks(q.u), unused).value();
  };
  HdpSticks best = bounded(top, closed_form(top));
  double most = -HUGE_VAL;
  const auto keep_better = [&](const HdpSticks& q) {
    const double now = value(q);
    if (!(now >= most)) return;
    best = q;
    most = now;
  };
  keep_better(best);
  if (from.u.size() == k && from.omega.size() == k) keep_better(bounded(top, from));
  for (int round = 0; round < max_rounds; ++round) {
    const double before = most;
    keep_better(bounded(top, searched(top, f, best)));
    if (!(most - before > worth_a_round * (1 + std::abs(most)))) break;
  }
  return best;
}

}  // namespace bnpvi
