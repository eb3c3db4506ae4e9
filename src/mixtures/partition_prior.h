// The prior of a mixture's partition of the rows, with the weights of clusters integrated out.
#pragma once
#include <optional>

#include "foundation/gamma_prior.h"
#include "foundation/types.h"

namespace bnpvi::mixtures {

/// The prior of a partition of n rows into K clusters with N_1, ..., N_K rows. Its probability is [Pitman
/// 1995]
///   Π_{k=1}^{K−1} (γ + k d) / Π_{i=0}^{n−2} (γ + 1 + i) · Π_k Γ(N_k − d) / Γ(1 − d).
/// d = 0 is the Dirichlet process, and 0 < d < 1 the Pitman–Yor process. d = −γ/M is the mixture of at most M
/// clusters with weights from Dirichlet(γ/M, ..., γ/M).
struct PartitionPrior {
  double concentration = 1;                // γ, the concentration
  double discount = 0;                     // d, the discount
  std::optional<GammaPrior> learned = {};  // the prior of γ, if γ is learned

  static PartitionPrior of_at_most(Index clusters, double concentration) {
    return {concentration, -concentration / static_cast<double>(clusters)};
  }

  /// odds_of(): the odds that one more row joins a cluster of n rows; odds_of_new(): that it starts a new
  /// cluster if there are k. The very first row starts a cluster with odds 1, also if γ ≤ 0 (γ may be as low
  /// as −d). In streams whose rows fade (StreamState) n need not be an integer; the odds are 0 if n is less
  /// than d.
  double odds_of(double n) const { return n > discount ? n - discount : 0; }
  double odds_of_new(Index k) const;
  /// The sum of the odds of all clusters and of a new one, if the clusters have n rows together. It is 1 for
  /// n = 0: the first row can only start a cluster.
  double odds_of_any(double n) const { return n == 0 ? 1 : n + concentration; }

  double log_probability(const std::vector<Index>& counts) const;
  /// By how much log_probability() rises if one of k clusters is divided into two, with a > d and b > d rows.
  double gain_of_split(double a, double b, Index k) const;
};

}  // namespace bnpvi::mixtures
