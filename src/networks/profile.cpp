#include "networks/profile.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"

namespace bnpvi::networks {

namespace {

constexpr int visits = 3;  // from a fixed point of the approximation; a guess

struct Node {
  double n0;
  const double *g, *e, *p;
  Index k;

  double value(const Vec& rho) const {
    double sum = 0;
    for (Index j = 0; j < k; ++j)
      sum += n0 * (g[j] * rho[j] - x_log_x(rho[j])) + log_gamma(e[j] + n0 * rho[j] + p[j]);
    return sum;
  }

  void visit(Vec& rho) const {
    double most = -HUGE_VAL, sum = 0;
    for (Index j = 0; j < k; ++j) {
      rho[j] = digamma(e[j] + n0 * rho[j] + p[j]) + g[j];
      most = std::max(most, rho[j]);
    }
    for (double& x : rho) sum += x = std::exp(x - most);
    for (double& x : rho) x /= sum;
  }

  // ρ of the approximate fixed point at ν = top + δ, δ > 0, and its sum.
  double approximate(double top, double delta, Vec& rho) const {
    double sum = 0;
    for (Index j = 0; j < k; ++j) {
      const double c = e[j] + p[j] - 0.5;
      sum += rho[j] = c > 0 ? c / (n0 * std::expm1(top - g[j] + delta)) : 0;
    }
    return sum;
  }

  bool fixed_point(Vec& rho) const {
    double top = -HUGE_VAL;
    for (Index j = 0; j < k; ++j)
      if (e[j] + p[j] > 0.5) top = std::max(top, g[j]);
    if (top == -HUGE_VAL) return false;
    // The sum falls from infinity to 0 as δ rises; log δ by bisection.
    double low = -60, high = 10;
    while (high < 700 && approximate(top, std::exp(high), rho) > 1) high += 5;
    for (int step = 0; step < 40; ++step) {
      const double middle = (low + high) / 2;
      (approximate(top, std::exp(middle), rho) > 1 ? low : high) = middle;
    }
    const double sum = approximate(top, std::exp(high), rho);
    if (!(sum > 0.5)) return false;
    for (double& x : rho) x /= sum;
    return true;
  }
};

}  // namespace

void best_profile(double n0, const double* g, const double* e, const double* p, Index k, double* rho) {
  if (k == 1) {
    rho[0] = 1;
    return;
  }
  const Node node{n0, g, e, p, k};
  Vec best(rho, rho + k), other(static_cast<std::size_t>(k));
  double most = node.value(best);
  const auto keep_better = [&](Vec from) {
    for (int v = 0; v < visits; ++v) node.visit(from);
    const double now = node.value(from);
    if (now > most) {
      most = now;
      best = std::move(from);
    }
  };
  keep_better(best);
  if (node.fixed_point(other)) keep_better(other);
  std::copy(best.begin(), best.end(), rho);
}

}  // namespace bnpvi::networks
