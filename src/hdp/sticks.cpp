#include "hdp/sticks.h"

#include <algorithm>
#include <cmath>

#include "foundation/lbfgs.h"
#include "foundation/special.h"

namespace bnpvi {

namespace {

// The least û (a guess), and the least 1 − û, which still has four digits there.
constexpr double least_stick = 1e-100, least_rest = 1e-12;
// The largest distance of log ω̂ from log BestOmega; in 270 random objectives the best log ω̂ was at most 1.05
// away.
constexpr double farthest = 10;
constexpr double most_above = 150;  // largest ω̂, in multiples of the larger bound: a guess
// The search is repeated, with units of the variables that suit its last end, as long as that gains; both
// limits are guesses.
constexpr int max_rounds = 20;
constexpr double worth_a_round = 1e-8;   // least relative gain for which another round is made
constexpr double least_weight = 1e-250;  // least π_k, for finite log Γ(απ_k) and derivative: a guess

double logistic(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double logit(double u) { return std::log(u) - std::log1p(-u); }

// Adds term k of L_top at Beta(a, b), given E log u and E log(1 − u) there.
void add_stick(RoundedSum& sum, double gamma, double c1, double c0, double a, double b, double log_u,
               double log_rest) {
  sum.add(log_gamma_remainder(a));
  sum.add(log_gamma_remainder(b));
  sum.add(-log_gamma_remainder(a + b));
  sum.add(c1 * log_u);
  sum.add(c0 * log_rest);
  sum.add(std::log(gamma));
}

// π by stick breaking from û and 1 − û; the latter is passed separately, as it has more digits than could be
// computed from û.
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

// E u² / û² − 1 = Var u / û². For 1 − u call it with u and rest exchanged.
double spread(double u, double rest, double omega) { return rest / (u * (omega + 1)); }

// Var π_k = π̄_k² (e^s − 1), where e^s = Π (1 + spread) over the factors of π_k; computed by logarithms where
// e^s would overflow.
double variance_of(double mean, double s) {
  return s < 1 ? mean * mean * std::expm1(s) : std::exp(2 * std::log(mean) + s + std::log1p(-std::exp(-s)));
}

// Moments of the weights, given û and 1 − û.
WeightMoments moments_of(const Vec& u, const Vec& rests, const Vec& omega, const Vec& log_u,
                         const Vec& log_rest) {
  WeightMoments out{weights_from(u, rests), {}, {}};
  double s = 0, log = 0;
  for (std::size_t j = 0; j < u.size(); ++j) {
    out.variance.push_back(variance_of(out.mean[j], s + std::log1p(spread(u[j], rests[j], omega[j]))));
    out.log.push_back(log + log_u[j]);
    s += std::log1p(spread(rests[j], u[j], omega[j]));
    log += log_rest[j];
  }
  out.variance.push_back(variance_of(out.mean.back(), s));
  out.log.push_back(log);
  return out;
}

// An approximation of the optimal ω̂ at û and 1 − û: the sum of two parts, of which the first falls and the
// second rises with û / (1 − û). It is exact where c1 : c0 = û : (1 − û), and in the limit of large ω̂.
struct BestOmega {
  BestOmega(double c1, double c0, double u, double rest)
      : falling(c1 * (rest / u)), rising(c0 * (u / rest)) {}
  double value() const { return falling + rising; }
  double slope() const { return (rising - falling) / value(); }  // derivative of log value() in logit û
  double falling, rising;
};

// The function that is maximised, of x = scale ∘ (logit û, log ω̂ − log BestOmega).
class Objective {
 public:
  Objective(const TopLevel& top, const WeightFunction& f, const Vec& scale)
      : top_(top),
        f_(f),
        scale_(scale),
        k_(top.c0.size()),
        u_(k_),
        v_(k_),
        omega_(k_),
        log_u_(k_),
        log_rest_(k_) {}

  RoundedSum operator()(const Vec& x, Vec& gradient) {
    RoundedSum value;
    for (std::size_t j = 0; j < k_; ++j) {
      const double y = x[j] / scale_[j], z = x[k_ + j] / scale_[k_ + j];
      if (!(std::abs(z) < farthest)) value.add(-HUGE_VAL);
      u_[j] = std::clamp(logistic(y), least_stick, 1 - least_rest);
      v_[j] = std::max(logistic(-y), least_rest);
      omega_[j] = BestOmega(top_.c1[j], top_.c0[j], u_[j], v_[j]).value() * std::exp(z);
      const double a = u_[j] * omega_[j], b = v_[j] * omega_[j];
      log_u_[j] = digamma_difference(a, b);
      log_rest_[j] = digamma_difference(b, a);
      add_stick(value, top_.gamma, top_.c1[j], top_.c0[j], a, b, log_u_[j], log_rest_[j]);
    }
    const WeightMoments pi = moments_of(u_, v_, omega_, log_u_, log_rest_);
    WeightMoments by_pi{Vec(k_ + 1), Vec(k_ + 1), Vec(k_ + 1)};
    value.add(f_(pi, &by_pi));
    Later later = later_of(pi, by_pi, k_);
    for (std::size_t j = k_; j-- > 0;) {
      const Later own = later_of(pi, by_pi, j);
      const double u = u_[j], v = v_[j], a = u * omega_[j], b = v * omega_[j];
      const double t_a = trigamma_remainder(a), t_b = trigamma_remainder(b),
                   t = trigamma_remainder(omega_[j]);
      const double more = top_.c1[j] - a + own.by_log, less = top_.c0[j] - b + later.by_log;
      const double part = spread(u, v, omega_[j]), rest_part = spread(v, u, omega_[j]);
      const double of_part = part / (1 + part) * own.by_spread,
                   of_rest = rest_part / (1 + rest_part) * later.by_spread;
      const double by_omega =
          more * (t_a - t) + less * (t_b - t) - omega_[j] / (omega_[j] + 1) * (of_part + of_rest);
      gradient[k_ + j] = by_omega;
      gradient[j] = v * more * (1 + t_a) - u * less * (1 + t_b) + v * own.by_mean - u * later.by_mean -
                    of_part + of_rest + BestOmega(top_.c1[j], top_.c0[j], u, v).slope() * by_omega;
      if (u == least_stick) gradient[j] = std::max(gradient[j], 0.0);
      if (v == least_rest) gradient[j] = std::min(gradient[j], 0.0);
      later.by_mean += own.by_mean;
      later.by_spread += own.by_spread;
      later.by_log += own.by_log;
    }
    for (std::size_t j = 0; j < 2 * k_; ++j) gradient[j] /= scale_[j];
    return value;
  }

 private:
  // Derivatives of f in log π̄ (at fixed spreads), in log E π², and in E log π, summed over the later
  // clusters.
  struct Later {
    double by_mean, by_spread, by_log;
  };
  static Later later_of(const WeightMoments& pi, const WeightMoments& by, std::size_t k) {
    const double m = pi.mean[k], v = pi.variance[k];
    return {by.mean[k] * m + 2 * by.variance[k] * v, by.variance[k] * (m * m + v), by.log[k]};
  }

  const TopLevel& top_;
  const WeightFunction& f_;
  const Vec& scale_;
  std::size_t k_;
  Vec u_, v_, omega_, log_u_, log_rest_;
};

// Moves û into its bounds and then, given û, ω̂ into the bounds of the optimal ω̂ of L_top, the upper one
// multiplied by `above`.
HdpSticks bounded(const TopLevel& top, HdpSticks q, double above = 1) {
  for (std::size_t j = 0; j < q.u.size(); ++j) {
    q.u[j] = std::clamp(q.u[j], least_stick, 1 - least_rest);
    const double by_u = top.c1[j] / q.u[j], by_rest = top.c0[j] / (1 - q.u[j]);
    q.omega[j] = std::clamp(q.omega[j], std::min(by_u, by_rest), above * std::max(by_u, by_rest));
  }
  return q;
}

// Approximate square roots of the objective's curvatures at q: −d²/d(logit û_j)² = û (1 − û) (c1 + c0_j +
// Σ_{l≥j} ∂f/∂log π_l) where f is linear in log π, and −d²/d(log ω̂)² = 1/2.
Vec scales(const TopLevel& top, const WeightFunction& f, const HdpSticks& q) {
  const std::size_t k = q.u.size();
  const WeightMoments pi = weight_moments(q);
  WeightMoments by_pi{Vec(k + 1), Vec(k + 1), Vec(k + 1)};
  Vec scale(2 * k, std::sqrt(0.5));
  f(pi, &by_pi);
  double after = by_pi.mean[k] * pi.mean[k];
  for (std::size_t j = k; j-- > 0;) {
    after += by_pi.mean[j] * pi.mean[j];
    scale[j] = std::sqrt(std::max(0.5, q.u[j] * (1 - q.u[j]) * (top.c1[j] + top.c0[j] + after)));
  }
  return scale;
}

// One L-BFGS search from q, in units of the curvature at q.
HdpSticks searched(const TopLevel& top, const WeightFunction& f, HdpSticks q) {
  const std::size_t k = q.u.size();
  const Vec scale = scales(top, f, q);
  const auto about = [&](std::size_t j) {
    return BestOmega(top.c1[j], top.c0[j], q.u[j], 1 - q.u[j]).value();
  };
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

HdpSticks closed_form(const TopLevel& top) {
  HdpSticks q;
  for (std::size_t j = 0; j < top.c0.size(); ++j) {
    q.omega.push_back(top.c1[j] + top.c0[j]);
    q.u.push_back(top.c1[j] / q.omega.back());
  }
  return q;
}

WeightMoments weight_moments(const HdpSticks& q) {
  Vec log_u, log_rest;
  for (std::size_t j = 0; j < q.u.size(); ++j) {
    const double a = q.u[j] * q.omega[j], b = (1 - q.u[j]) * q.omega[j];
    log_u.push_back(digamma_difference(a, b));
    log_rest.push_back(digamma_difference(b, a));
  }
  return moments_of(q.u, rests_of(q.u), q.omega, log_u, log_rest);
}

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
  const std::size_t size = static_cast<std::size_t>(k);
  TopLevel top{gamma, Vec(size, groups + 1), Vec(size)};
  for (Index j = 0; j < k; ++j) top.c0[j] = groups * static_cast<double>(k - j) + gamma;
  return top;
}

RoundedSum top_value(const TopLevel& top, const HdpSticks& q) {
  RoundedSum sum;
  for (std::size_t j = 0; j < q.u.size(); ++j) {
    const double a = q.u[j] * q.omega[j], b = (1 - q.u[j]) * q.omega[j];
    add_stick(sum, top.gamma, top.c1[j], top.c0[j], a, b, digamma_difference(a, b), digamma_difference(b, a));
  }
  return sum;
}

HdpSticks maximise_sticks(const TopLevel& top, const WeightFunction& f, const HdpSticks& from) {
  const std::size_t k = top.c0.size();
  const auto value = [&](const HdpSticks& q) {
    return top_value(top, q).value() + f(weight_moments(q), nullptr).value();
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
  if (from.u.size() == k && from.omega.size() == k)
    for (double above : {most_above, 1.0}) keep_better(bounded(top, from, above));
  for (int round = 0; round < max_rounds; ++round) {
    const double before = most;
    const HdpSticks found = searched(top, f, best);
    for (double above : {most_above, 1.0}) keep_better(bounded(top, found, above));
    if (!(most - before > worth_a_round * (1 + std::abs(most)))) break;
  }
  return best;
}

}  // namespace bnpvi
