// The concentration γ of the sticks u_k ~ Beta(1, γ) that all groups share.
#pragma once
#include <optional>

#include "foundation/gamma_prior.h"
#include "foundation/named_array.h"
#include "hdp/sticks.h"

namespace bnpvi {

/// The concentration γ of the sticks u_k ~ Beta(1, γ): a fixed number, or integrated out over γ ~ Gamma(a,
/// b). L_top, the part of the objective that depends on the sticks (TopLevel), contains γ as K log γ + γ s,
/// with s = Σ_k E log(1 − u_k). With the optimal q(γ) = Gamma(a + K, b − s), this and the prior add up to
/// exactly
///   a log b − log Γ(a) + log Γ(a + K) − (a + K) log(b − s).
/// So q(γ) need not be stored, and no search can get stuck in it.
class TopConcentration {
 public:
  TopConcentration(double gamma) : mean_(gamma) {}
  TopConcentration(const GammaPrior& prior) : mean_(prior.mean()), prior_(prior) {}

  bool learned() const { return prior_.has_value(); }
  /// The fixed γ, or the mean of its prior.
  double mean() const { return mean_; }
  /// The fixed γ, or its expectation under q(γ), which is optimal for sticks with these moments of the
  /// weights π.
  double at(const WeightMoments& pi) const;
  /// Shape and rate of the q(γ) that is optimal for sticks with these moments of the weights π. Only if γ is
  /// learned.
  GammaPrior posterior(const WeightMoments& pi) const;

  /// If γ is learned, appends the array "gamma" (shape and rate of q(γ)) to `to`.
  void add_posterior(const HdpSticks& sticks, NamedArrays& to) const;

  /// What learning γ adds to the objective; 0 if γ is fixed. TopLevel counts K log γ_0 + γ_0 s, with s = Σ_k
  /// E log(1 − u_k), as if γ had the fixed value γ_0. The result is the difference between that and the
  /// integral over the Gamma prior of γ. If the gradient is not null, its derivatives are added to it.
  RoundedSum beyond(double gamma_0, const WeightMoments& pi, WeightMoments* gradient) const;

 private:
  double mean_;
  std::optional<GammaPrior> prior_;
};

}  // namespace bnpvi
