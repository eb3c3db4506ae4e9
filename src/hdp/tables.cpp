#include "hdp/tables.h"

#include <algorithm>
#include <cmath>

#include "foundation/variates.h"

namespace bnpvi {

Index draw_tables(Index n, double c, Stream& stream) {
  Index out = n > 0;
  for (Index i = 1; i < n; ++i) out += stream.uniform() * (c + static_cast<double>(i)) < c;
  return out;
}

RowTables draw_row_tables(const Index* count, const Vec& beta, double alpha, double sticky, Index self,
                          std::vector<Index>& chosen, Stream& stream) {
  RowTables out;
  for (Index k = 0; k < static_cast<Index>(chosen.size()); ++k) {
    if (count[k] == 0) continue;
    const double by_weight = alpha * beta[k], by_sticky = k == self ? sticky : 0;
    const Index tables = draw_tables(count[k], by_weight + by_sticky, stream);
    const Index overrides =
        by_sticky > 0 ? draw_binomial(tables, by_sticky / (by_sticky + by_weight), stream) : 0;
    out.all += tables;
    out.overrides += overrides;
    chosen[k] += tables - overrides;
  }
  return out;
}

Vec draw_top_weights(const Vec& tables, double gamma, Stream& stream) {
  Vec weight = tables;
  weight.push_back(gamma);
  weight = draw_log_dirichlet(weight, stream);
  for (double& w : weight) w = std::exp(w);
  return weight;
}

void open_cluster(Vec& beta, double gamma, Stream& stream) {
  const LogBeta share = draw_log_beta(1, gamma, stream);
  const double rest = beta.back();
  beta.back() = rest * std::exp(share.log_x);
  beta.push_back(rest * std::exp(share.log_rest));
}

double draw_top_concentration(const GammaPrior& prior, double gamma, Index k, Index tables, Stream& stream) {
  if (tables == 0) return draw_gamma(prior.shape, prior.rate, stream);
  const double m = static_cast<double>(tables), shape = prior.shape + static_cast<double>(k);
  const double rate = prior.rate - draw_log_beta(gamma + 1, m, stream).log_x;
  const double odds = (shape - 1) / (m * rate);
  const bool higher = stream.uniform() * (1 + odds) < odds;
  return draw_gamma(higher ? shape : shape - 1, rate, stream);
}

double draw_group_concentration(const GammaPrior& prior, double alpha, const std::vector<Index>& size,
                                Index tables, Stream& stream) {
  double shape = prior.shape + static_cast<double>(tables), rate = prior.rate;
  for (Index count : size) {
    if (count == 0) continue;
    const double n = static_cast<double>(count);
    rate -= draw_log_beta(alpha + 1, n, stream).log_x;
    shape -= stream.uniform() * (n + alpha) < n;
  }
  return draw_gamma(shape, rate, stream);
}

}  // namespace bnpvi
