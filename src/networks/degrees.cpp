#include "networks/degrees.h"

#include <algorithm>
#include <cmath>

#include "foundation/special.h"

namespace bnpvi::networks {

Degrees::Degrees(const Links& links) {
  const double n = static_cast<double>(links.n());
  const double usual = n * links.total() / std::max(1.0, links.n_pairs());
  for (Index i = 0; i < links.n(); ++i) {
    const Index begin = links.out().start[i], end = links.out().start[i + 1];
    double ends = 2 * links.loops(i);
    for (Index e = begin; e < end; ++e) ends += links.out().value[e];
    const double x = static_cast<double>(links.hidden_out().start[i + 1] - links.hidden_out().start[i]) / n;
    const double lent = std::round(1024 * (1 + ends) * usual * x / (1 + usual * (1 - x))) / 1024;
    ends_.push_back(ends);
    lent_.push_back(lent);
    log_base_ += log_gamma(1 + ends + lent) - (lent > 0 ? lent * digamma(1 + ends + lent) : 0) -
                 links.loops(i) * std::log(2.0) - log_gamma(1 + links.loops(i));
  }
}

double Degrees::evidence(const Mass& m) {
  if (m.nodes == 0) return 0;
  return m.ends * std::log(m.nodes) + log_gamma(m.nodes) - log_gamma(m.theta()) +
         (m.lent > 0 ? m.lent * digamma(m.theta()) : 0);
}

double Degrees::pairs(const Mass& a, const Mass& b, double hidden) {
  const double all = a.nodes * b.nodes;
  return hidden > 0 ? std::max(0.0, all * (1 - hidden / (a.theta() * b.theta()))) : all;
}

double Degrees::pairs_within(const Mass& a, double hidden) {
  const double all = a.nodes * a.nodes, theta = a.theta();
  return hidden > 0 ? std::max(0.0, all * (0.5 - hidden / (theta * (theta + 1)))) : all / 2;
}

}  // namespace bnpvi::networks
