#include "observations/beta_prior.h"

#include <algorithm>
#include <cmath>

#include "foundation/extrapolation.h"
#include "foundation/special.h"
#include "observations/column_gaps.h"

namespace bnpvi {

namespace {

constexpr int cycles = 2;                   // of two rounds and an extrapolation: a guess
constexpr double farthest = 3;              // change of a logarithm by one extrapolation: a guess
constexpr double least = 1e-8, most = 1e8;  // of a and b: within their range in obs_bernoulli()

// One column of K clusters at (log a, log b).
class Column {
 public:
  Column(const double* t, Index k, Index p, Index column, Index count)
      : t_(t), k_(k), p_(p), column_(column), count_(count) {}

  double objective(const Vec& x) const {
    const double a = std::exp(x[0]), b = std::exp(x[1]);
    double sum = x[0] - a + x[1] - b;
    for (Index i = 0; i < k_; ++i)
      sum += log_gamma_difference(a + b, ones(i) + zeros(i)) - log_gamma_difference(a, ones(i)) -
             log_gamma_difference(b, zeros(i));
    return sum;
  }

  Vec next(const Vec& x) const {
    const double a = std::exp(x[0]), b = std::exp(x[1]);
    const double psi_a = digamma(a), psi_b = digamma(b), psi_all = digamma(a + b);
    double for_a = 0, for_b = 0, all = 0;
    for (Index i = 0; i < k_; ++i) {
      for_a += digamma(a + ones(i)) - psi_a;
      for_b += digamma(b + zeros(i)) - psi_b;
      all += digamma(a + b + ones(i) + zeros(i)) - psi_all;
    }
    return {std::log(std::clamp((1 + a * for_a) / (1 + all), least, most)),
            std::log(std::clamp((1 + b * for_b) / (1 + all), least, most))};
  }

 private:
  double ones(Index i) const { return std::max(t_[i * p_ + 1 + column_], 0.0); }
  double zeros(Index i) const { return std::max(t_[i * p_ + count_] - t_[i * p_ + 1 + column_], 0.0); }

  const double* t_;
  Index k_, p_, column_, count_;
};

}  // namespace

double log_hyperprior(const BetaPrior& prior) {
  double sum = 0;
  if (!prior.learn) return sum;
  for (std::size_t j = 0; j < prior.a.size(); ++j)
    sum += std::log(prior.a[j]) - prior.a[j] + std::log(prior.b[j]) - prior.b[j];
  return sum;
}

BetaPrior learn_beta_prior(const BetaPrior& prior, const double* t, Index k, Pool* pool) {
  BetaPrior out = prior;
  const Index d = static_cast<Index>(prior.a.size());
  const ColumnGaps gaps(prior.gaps, d, 1 + d);
  for_each_part(pool, d, [&](Index j) {
    const Column column(t, k, gaps.n_features(), j, gaps.at(j));
    Vec best{std::log(prior.a[j]), std::log(prior.b[j])};
    for (int cycle = 0; cycle < cycles; ++cycle) {
      const Vec first = column.next(best), second = column.next(first);
      const auto jump = extrapolated(best, first, second, farthest);
      best = jump && column.objective(*jump) > column.objective(second) ? *jump : second;
    }
    out.a[j] = std::exp(best[0]);
    out.b[j] = std::exp(best[1]);
  });
  return out;
}

}  // namespace bnpvi
