// The prior of a mixture's partition of the rows, its weights integrated out.
#pragma once
#include <optional>

#include "foundation/gamma_prior.h"
#include "foundation/types.h"

namespace bnpvi::mixtures {

/// Partitions of n rows into K clusters of N_1, ..., N_K rows have probability [Pitman 1995]
///   Π_{k<K} (γ + k d) / Π_{i<n−1} (γ + 1 + i) · Π_k Γ(N_k − d) / Γ(1 − d),
/// k and i from 1 and 0. d = 0 is the Dirichlet process, 0 < d < 1 the Pitman–Yor process, d = −γ/M the
/// mixture of at most M clusters with weights from Dirichlet(γ/M, ..., γ/M).
struct PartitionPrior {
  double concentration = 1;                // γ
  double discount = 0;                     // d
  std::optional<GammaPrior> learned = {};  // the prior of γ, where it is not known

  static PartitionPrior of_at_most(Index clusters, double concentration) {
    return {concentration, -concentration / static_cast<double>(clusters)};
  }

  /// A further row joins a cluster of n rows, or a new one beside k, with odds of these. The first row of
  /// all has a new one, odds 1, also where γ ≤ 0 (which may be as low as −d). Where rows fade (StreamState),
  /// n need not be whole; less than d has odds 0.
  double odds_of(double n) const { return n > discount ? n - discount : 0; }
  double odds_of_new(Index k) const;
  /// Their sum over all clusters, n the number of rows so far.
  double odds_of_any(double n) const { return n == 0 ? 1 : n + concentration; }

  double log_probability(const std::vector<Index>& counts) const;
  /// What it gains when one of k clusters is divided into two of a and b > d rows.
  double gain_of_split(double a, double b, Index k) const;
};

}  // namespace bnpvi::mixtures
