// The posterior of the concentration of a mixture's sticks, whose prior is a Gamma distribution.
#pragma once
#include <array>

#include "foundation/gamma_prior.h"
#include "foundation/types.h"

namespace bnpvi::mixtures {

/// For each cluster k the sum Σ_{l>k} N_l of the counts of all later clusters. Clusters are in stick order:
/// that in which weights are broken off a stick.
Vec counts_after(const Vec& counts);

/// The posterior q(γ) of the concentration of Pitman–Yor sticks u_k ~ Beta(1 − d, γ + kd), with the prior γ ~
/// Gamma(a, b). K clusters in stick order have the expected counts N_k.
///
/// At the optimum of q(u, γ) = q(γ) Π_k q(u_k | γ), the joint posterior of sticks and concentration,
///
///   q(γ) ∝ Gamma(γ; a, b) e^f(γ),  f(γ) = Σ_k log [ B(1 − d + N_k, γ + kd + N_>k) / B(1 − d, γ + kd) ],
///
/// and the part of the allocation in the ELBO is the logarithm of the integral of the right side.
/// Neighbouring Beta functions cancel: with N_>k = Σ_{l>k} N_l and x_k = γ + kd + N_>k,
///
///   f(γ) = Σ_k log [ Γ(1 − d + N_k) / Γ(1 − d) ] + log [ Γ(1 + γ) / Γ(1 + γ + N) ]
///          + Σ_{0<k<K} log [ (γ + kd) / x_k ],
///   E[log π_k | γ] = ψ(1 − d + N_k) − ψ(1 + γ + N) − Σ_{0<l<k} 1 / x_l.
///
/// The integral is computed by the trapezoid rule with n_nodes nodes. They are evenly spaced in s, where t =
/// log(γ b / a) = t_mode + 2σ sinh s, and σ follows from the curvature at the mode. The first and the last
/// node are where the integrand has fallen by e^−28 from its maximum. Nodes evenly spaced in t would miss
/// narrow modes with long tails, as for shape 1 with a discount. Errors of the logarithm were below 1e-10 for
/// shapes 1 to 1e4, rates 1e-4 to 1e4, discounts 0 to 0.9, and up to 1,000 clusters with one row each or
/// many.
class ConcentrationPosterior {
 public:
  static constexpr Index n_nodes = 64;
  using Nodes = std::array<double, n_nodes>;

  /// Computes the posterior. counts: N_1, ..., N_K in stick order, K ≥ 1; numbers below 0, due to rounding,
  /// count as 0. discount: 0 ≤ d < 1. The shape of the prior must be at least 1. With a smaller shape a stick
  /// that no row has reached would have E log π = −∞.
  ConcentrationPosterior(const GammaPrior& prior, double discount, const Vec& counts);

  /// The part of the allocation in the ELBO: log ∫ Gamma(γ; a, b) e^f(γ) dγ, where f(γ) is the log
  /// probability ratio of the counts N given γ (see the class). It is a convex function of N with derivatives
  /// E_q log π_k.
  double log_integral() const { return log_integral_; }

  Vec expected_log_weights() const;  // E_q log π_k for all K clusters
  Vec mean_weights() const;          // E_q π_k, then the mass of all other clusters: K + 1 numbers
  double mean() const;               // E_q γ, the posterior mean

  /// The nodes at which q(γ) is computed: increasing values of γ, and their probabilities, which sum to 1.
  const Nodes& values() const { return gamma_; }
  const Nodes& probabilities() const { return probability_; }

 private:
  // The logarithm of the integrand, without its constants, as a function of t = log(γ b / a), and its slope.
  struct Point {
    double t, value, slope;
  };
  Point at(double t) const;
  struct Mode {
    Point top;
    double curvature;
  };
  Mode mode() const;
  double end(const Point& top, double width, int side) const;
  void place_nodes();

  GammaPrior prior_;
  double discount_;
  Vec counts_, tail_;
  double all_;  // N, the sum of all counts
  double log_integral_;
  Nodes gamma_, probability_;
};

}  // namespace bnpvi::mixtures
