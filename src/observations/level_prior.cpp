#include "observations/level_prior.h"

#include <algorithm>
#include <numeric>

#include "foundation/special.h"
#include "kernels/kernels.h"

namespace bnpvi {

namespace {

constexpr int rounds = 4;                    // after every lap: a guess
constexpr double least = 1e-8, most = 1e50;  // of either part: the range in which a prior may be given

double sum(const Vec& x) { return std::accumulate(x.begin(), x.end(), 0.0); }

}  // namespace

LevelPrior learn_level_prior(LevelPrior prior, const double* t, Index k, Pool* pool) {
  const Index d = static_cast<Index>(prior.weight.size());
  Vec digamma_weight(prior.weight.size());
  for (int round = 0; round < rounds; ++round) {
    kernels().digamma_each(d, prior.weight.data(), digamma_weight.data());
    const double total = sum(prior.weight);
    Vec even(static_cast<std::size_t>(k)), common(even), all(even);
    for_each_part(pool, k, [&](Index j) {
      const double* counts = t + j * (1 + d) + 1;
      Vec drawn(prior.weight.size());
      kernels().digamma_of_counts(d, prior.weight.data(), counts, 0, drawn.data());
      for (std::size_t v = 0; v < drawn.size(); ++v) {
        drawn[v] -= digamma_weight[v];
        even[j] += drawn[v];
        common[j] += prior.share[v] * drawn[v];
      }
      all[j] = digamma(total + kernels().positive_sum(d, counts)) - digamma(total);
    });
    if (!(sum(all) > 0)) break;
    prior.even = std::clamp(prior.even * sum(even) / (static_cast<double>(d) * sum(all)), least, most);
    prior.common = std::clamp(prior.common * sum(common) / sum(all), least, most);
    for (std::size_t v = 0; v < prior.weight.size(); ++v)
      prior.weight[v] = prior.even + prior.common * prior.share[v];
  }
  return prior;
}

NamedArray dirichlet_array(const Vec& weight, const double* t, Index k) {
  const Index d = static_cast<Index>(weight.size());
  NamedArray out{"concentration", {}, {k, d}};
  for (Index v = 0; v < d; ++v)
    for (Index i = 0; i < k; ++i) out.value.push_back(weight[v] + std::max(t[i * (1 + d) + 1 + v], 0.0));
  return out;
}

}  // namespace bnpvi
