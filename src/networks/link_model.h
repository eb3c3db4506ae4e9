// The distribution of the values of pairs in a block: links that are present or absent, or counts.
#pragma once
#include "foundation/types.h"

namespace bnpvi::networks {

/// The weights ∇Λ of a block, with E log p(y | φ) = none + y · link + log h(y) for a pair of value y.
struct LinkWeights {
  double none, link;
};

/// Bernoulli with φ ~ Beta(a, b), or Poisson with φ ~ Gamma(a, rate b). The statistic of a block is its
/// number of pairs N and the sum S of their values. A pair without a link adds (1, 0) whatever its block is,
/// so that such pairs need never be listed. Λ(N, S) is the log evidence of a block, without log h.
class LinkModel {
 public:
  LinkModel(bool counts, double a, double b);

  bool counts() const { return counts_; }
  double a() const { return a_; }
  double b() const { return b_; }

  /// Λ: for Bernoulli lB(a + S, b + N − S) − lB(a, b), with lB the log Beta function; for Poisson log Γ(a +
  /// S) − log Γ(a) + a log b − (a + S) log(b + N).
  double evidence(double n, double s) const;
  /// N − S below 0, by rounding, counts as 0.
  LinkWeights weights(double n, double s) const;
  double mean(double n, double s) const;  // E φ given the statistic, the expected value of a pair
  double log_base(double y) const;        // log h(y): for counts −log y!

 private:
  bool counts_;
  double a_, b_;
  // Tables of log Γ(a + i), log Γ(b + i) and log Γ(a + b + i), or for Poisson of log Γ(a + i) and log(b + i):
  // statistics of hard labels are whole numbers, and most of those that a search needs are small.
  Vec gamma_a_, gamma_b_, gamma_n_;
};

}  // namespace bnpvi::networks
