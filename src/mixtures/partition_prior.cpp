#include "mixtures/partition_prior.h"

#include <cmath>
#include <numeric>

#include "foundation/special.h"

namespace bnpvi::mixtures {

namespace {

// log Γ(n − d) − log Γ(1 − d).
double log_weight(double n, double discount) {
  return n < 1 ? log_gamma_difference(n - discount, 1 - n) : -log_gamma_difference(1 - discount, n - 1);
}

}  // namespace

// 0 instead of a rounding error where no further cluster is possible.
double PartitionPrior::odds_of_new(Index k) const {
  if (k == 0) return 1;
  const double odds = concentration + static_cast<double>(k) * discount;
  return odds > 1e-9 * std::abs(discount) ? odds : 0;
}

double PartitionPrior::log_probability(const std::vector<Index>& counts) const {
  const Index n = std::accumulate(counts.begin(), counts.end(), Index{0});
  if (n == 0) return 0;
  double sum = log_gamma_difference(concentration + 1, static_cast<double>(n - 1));
  for (Index j = 0; j < static_cast<Index>(counts.size()); ++j) {
    if (j > 0) sum += std::log(odds_of_new(j));
    sum += log_weight(static_cast<double>(counts[j]), discount);
  }
  return sum;
}

double PartitionPrior::gain_of_split(double a, double b, Index k) const {
  return std::log(odds_of_new(k)) + log_weight(a, discount) + log_weight(b, discount) -
         log_weight(a + b, discount);
}

}  // namespace bnpvi::mixtures
