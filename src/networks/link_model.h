// The distribution of the values of pairs of nodes in a block (a pair of communities): links or counts.
#pragma once
#include "foundation/types.h"

namespace bnpvi::networks {

/// The weights of a block (pair of communities), the gradient of its log evidence. The expected log
/// probability of a pair's value y in the block is none + y · link + log h(y), with h the base measure.
struct LinkWeights {
  double none, link;
};

/// The model of the values y of pairs in a block with parameter φ: Bernoulli with φ ~ Beta(a, b), or, for
/// counts, Poisson with φ ~ Gamma(a, rate b). The statistic of a block is its number of pairs N and the sum S
/// of their values. A pair without a link adds (1, 0) whatever its block is, so that such pairs need never be
/// listed. Λ(N, S) is the log evidence of a block without the base measure h(y).
class LinkModel {
 public:
  LinkModel(bool counts, double a, double b);

  bool counts() const { return counts_; }
  double a() const { return a_; }
  double b() const { return b_; }

  /// The log evidence Λ of a block of n pairs with sum s. For Bernoulli lB(a + S, b + N − S) − lB(a, b), with
  /// lB the log Beta function; for Poisson log Γ(a + S) − log Γ(a) + a log b − (a + S) log(b + N).
  double evidence(double n, double s) const;
  /// The weights of a block of n pairs with sum s. A value of n − s below 0, due to rounding, counts as 0.
  LinkWeights weights(double n, double s) const;
  double mean(double n, double s) const;  // E φ given the statistic, the expected value of a pair
  double log_base(double y) const;        // log h(y): for counts −log y!

 private:
  bool counts_;
  double a_, b_;
  // Tables for Bernoulli of log Γ(a + i), log Γ(b + i) and log Γ(a + b + i), for Poisson of log Γ(a + i) and
  // log(b + i), i = 0, 1, ... Statistics of hard labels are whole numbers, and most of those in a search are
  // small.
  Vec gamma_a_, gamma_b_, gamma_n_;
};

}  // namespace bnpvi::networks
