// The distribution of the values of node pairs in a block. The values are links (0 or 1) or counts.
#pragma once
#include "foundation/types.h"

namespace bnpvi::networks {

/// The weights of a block, which are the gradient of its log evidence. In this block the expected log
/// probability of value y is none + y · link + log h(y), where h is the base measure.
struct LinkWeights {
  double none, link;
};

/// The model of the values y of the node pairs in a block with parameter φ: Bernoulli with φ ~ Beta(a, b) or,
/// for counts, Poisson with φ ~ Gamma(a, rate b). The statistic of a block is (N, S): its number of pairs and
/// the sum of their values. A pair without a link adds (1, 0) in every block, so such pairs need not be
/// listed. Λ(N, S) is the log evidence of a block without the base measure h(y).
class LinkModel {
 public:
  LinkModel(bool counts, double a, double b);

  bool counts() const { return counts_; }
  double a() const { return a_; }
  double b() const { return b_; }

  /// The log evidence Λ of a block of n pairs with sum s. Bernoulli: lB(a + s, b + n − s) − lB(a, b), with lB
  /// the log Beta function. Poisson: log Γ(a + s) − log Γ(a) + a log b − (a + s) log(b + n).
  double evidence(double n, double s) const;
  /// The weights of a block of n pairs with sum s. If n − s is below 0 by rounding, it counts as 0.
  LinkWeights weights(double n, double s) const;
  double mean(double n, double s) const;  // E φ given the statistic: the expected value of a pair
  double log_base(double y) const;        // log h(y): for counts −log y!

 private:
  bool counts_;
  double a_, b_;
  // Tables of functions at i = 0, 1, ...: log Γ(a + i), log Γ(b + i) and log Γ(a + b + i) for Bernoulli; log
  // Γ(a + i) and log(b + i) for Poisson. With hard labels the statistics are whole numbers, and most of those
  // in a search are small.
  Vec gamma_a_, gamma_b_, gamma_n_;
};

}  // namespace bnpvi::networks
