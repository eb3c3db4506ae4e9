// The concentration γ of the sticks u_k ~ Beta(1, γ) that all groups share.
#pragma once
#include <optional>

#include "foundation/gamma_prior.h"
#include "foundation/named_array.h"
#include "hdp/sticks.h"

namespace bnpvi {

/// A number, or integrated over γ ~ Gamma(a, b). What depends on γ in L_top is K log γ + γ s, s = Σ_k E log(1
/// − u_k); with the best q(γ) = Gamma(a + K, b − s) the prior and this add up to
///   a log b − log Γ(a) + log Γ(a + K) − (a + K) log(b − s),
/// exactly, so that nothing has to be stored, and no search can be trapped.
class TopConcentration {
 public:
  TopConcentration(double gamma) : mean_(gamma) {}
  TopConcentration(const GammaPrior& prior) : mean_(prior.mean()), prior_(prior) {}

  bool learned() const { return prior_.has_value(); }
  /// The number, or the prior's mean.
  double mean() const { return mean_; }
  /// The number, or E_q γ under these sticks.
  double at(const WeightMoments& pi) const;
  /// q(γ) under these sticks; only if learned().
  GammaPrior posterior(const WeightMoments& pi) const;

  /// Adds the array "gamma", shape and rate of q(γ), if learned().
  void add_posterior(const HdpSticks& sticks, NamedArrays& to) const;

  /// What the integral exceeds K log γ_0 + γ_0 s by, which TopLevel counts; 0 for a number. Its derivatives
  /// are added to the gradient, if there is one.
  RoundedSum beyond(double gamma_0, const WeightMoments& pi, WeightMoments* gradient) const;

 private:
  double mean_;
  std::optional<GammaPrior> prior_;
};

}  // namespace bnpvi
