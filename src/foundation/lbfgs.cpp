#include "foundation/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace bnpvi {

namespace {

constexpr std::size_t memory = 8;  // pairs (step, change of gradient) kept: a guess within the usual 3 to 20
constexpr double farthest = 1e12;  // longest step of a line search, as a multiple of the first: a guess
constexpr double narrow = 0.01;    // bisection ends when the bracket is this fraction of the step: a guess

double dot(const Vec& a, const Vec& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double largest(const Vec& a) {
  double out = 0;
  for (double x : a) out = std::max(out, std::abs(x));
  return out;
}

struct Pair {
  Vec s, y;  // step and change of the gradient of −f
  double sy;
};

// The uphill direction H g, computed from the pairs by the two-loop recursion.
Vec direction(const std::vector<Pair>& pairs, const Vec& gradient) {
  Vec q = gradient, coef(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    coef[i] = dot(pairs[i].s, q) / pairs[i].sy;
    for (std::size_t j = 0; j < q.size(); ++j) q[j] -= coef[i] * pairs[i].y[j];
  }
  const double scale = pairs.empty() ? 1 / std::max(1.0, largest(gradient))
                                     : pairs.back().sy / dot(pairs.back().y, pairs.back().y);
  for (double& v : q) v *= scale;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double c = coef[i] - dot(pairs[i].y, q) / pairs[i].sy;
    for (std::size_t j = 0; j < q.size(); ++j) q[j] += c * pairs[i].s[j];
  }
  return q;
}

}  // namespace

double maximise(const SmoothFunction& f, Vec& x, double tol, int max_steps) {
  const std::size_t n = x.size();
  Vec gradient(n), trial(n), trial_gradient(n);
  RoundedSum here = f(x, gradient), there;
  std::vector<Pair> pairs;
  for (int step = 0; step < max_steps && largest(gradient) > tol * (1 + std::abs(here.value())); ++step) {
    Vec d = direction(pairs, gradient);
    double slope = dot(d, gradient);
    if (!(slope > 0)) {
      pairs.clear();
      d = direction(pairs, gradient);
      slope = dot(d, gradient);
    }
    double slope_there = 0;
    const auto rises = [&](double t) {
      for (std::size_t j = 0; j < n; ++j) trial[j] = x[j] + t * d[j];
      there = f(trial, trial_gradient);
      const double gain = there.value() - here.value();
      slope_there = dot(trial_gradient, d);
      return std::isfinite(gain) && std::isfinite(slope_there) && gain > there.rounding() &&
             gain >= 1e-4 * t * slope;
    };
    double t = 1, low = 0, high = std::numeric_limits<double>::infinity();
    bool found = false;
    while (!found && t * slope > here.rounding() && !(high - low <= narrow * low) && low < farthest) {
      if (!rises(t))
        high = t;
      else if (slope_there > 0.9 * slope)
        low = t;
      else
        found = true;
      if (!found) t = std::isinf(high) ? 2 * low : (low + high) / 2;
    }
    if (!found && !(low > 0 && rises(low))) break;
    Pair p{Vec(n), Vec(n), 0};
    for (std::size_t j = 0; j < n; ++j) {
      p.s[j] = trial[j] - x[j];
      p.y[j] = gradient[j] - trial_gradient[j];
    }
    p.sy = dot(p.s, p.y);
    if (p.sy > 1e-12 * dot(p.y, p.y)) {
      if (pairs.size() == memory) pairs.erase(pairs.begin());
      pairs.push_back(std::move(p));
    }
    x = trial;
    gradient = trial_gradient;
    here = there;
  }
  return here.value();
}

}  // namespace bnpvi
