// What a block of pairs produces: links that are there or not, or counts.
#pragma once
#include "foundation/types.h"

namespace bnpvi::networks {

/// Weights ∇Λ: E log p(y | φ) = none + y · link + log h(y).
struct LinkWeights {
  double none, link;
};

/// Bernoulli with φ ~ Beta(a, b), or Poisson with φ ~ Gamma(a, rate b). The statistic of a block is its
/// number of pairs N and the sum S of their values: a pair without a link adds (1, 0), whatever block it is
/// in, so that these need never be listed. Λ(N, S) is the log evidence of a block, without log h.
class LinkModel {
 public:
  LinkModel(bool counts, double a, double b);

  bool counts() const { return counts_; }
  double a() const { return a_; }
  double b() const { return b_; }

  /// Λ: Bernoulli lB(a + S, b + N − S) − lB(a, b); Poisson log Γ(a + S) − log Γ(a) + a log b − (a + S) log(b
  /// + N).
  double evidence(double n, double s) const;
  /// For statistics without rounding; Λ(0, 0) = 0. N − S below 0 by rounding counts as 0.
  LinkWeights weights(double n, double s) const;
  double mean(double n, double s) const;  // E φ
  double log_base(double y) const;        // log h(y): −log y! of counts

 private:
  bool counts_;
  double a_, b_;
  // Logarithms of Γ(a + i), Γ(b + i), Γ(a + b + i), or of Γ(a + i) and b + i: statistics of hard labels are
  // whole numbers, and small ones are most of what a search asks for.
  Vec gamma_a_, gamma_b_, gamma_n_;
};

}  // namespace bnpvi::networks
