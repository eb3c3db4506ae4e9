// The top level of a hierarchical Dirichlet process: the stick-breaking fractions u that all groups share.
// Each group has proportions of its own, whose mean is π.
#pragma once
#include <functional>

#include "foundation/rounded_sum.h"
#include "foundation/types.h"

namespace bnpvi {

/// The variational posterior of the stick-breaking fractions u_k of K clusters: q(u_k) = Beta(û_k ω̂_k, (1 −
/// û_k) ω̂_k), k = 1..K.
struct HdpSticks {
  Vec u, omega;
};

/// The weights π(û) of K clusters and the remainder, K + 1 numbers, for mean sticks û: π_k = û_k Π_{l<k} (1 −
/// û_l). Values below 1e-250 are raised to 1e-250, so that log Γ(απ_k) is finite. This lowers the bound by at
/// most 1 for each group.
Vec weights_from_sticks(const Vec& u);

/// Moments of the weights π under q(u): E π_k, Var π_k and E log π_k. Each has K + 1 numbers: the K clusters,
/// then the remainder. The means are those of weights_from_sticks(), with its lower limit of 1e-250.
struct WeightMoments {
  Vec mean, variance, log;
};
WeightMoments weight_moments(const HdpSticks& q);

/// The inverse of weights_from_sticks(): K mean sticks û, within [1e-100, 1 − 1e-12], from K + 1 positive
/// weights (which need not sum to 1).
Vec sticks_from_weights(const Vec& weights);

/// The statistics of J groups on which q(u) of the sticks depends. They come from the lower bound on the
/// normaliser of Dirichlet(απ) [Hughes 2016, ch. 5]
///   log Γ(α) − Σ_{k≤K+1} log Γ(απ_k) ≥ K log α + Σ_{k≤K+1} log π_k.
/// c1_k and c0_k are the coefficients of log u_k and log(1 − u_k), including those of the prior Beta(1, γ).
/// With lB the logarithm of the Beta function, the part of the objective that depends on the sticks is
///   L_top = Σ_k { lB(û_kω̂_k, (1−û_k)ω̂_k) − lB(1, γ)
///                + (c1_k − û_kω̂_k) E log u_k + (c0_k − (1−û_k)ω̂_k) E log(1−u_k) }.
/// The caller adds the constant of the bound, J K log α. Terms that grow with û ω̂ and (1 − û) ω̂ cancel and
/// are never formed. With R(x) = x + log Γ(x) − xψ(x), the term of a stick is
///   R(ûω̂) + R((1−û)ω̂) − R(ω̂) + c1_k E log u_k + c0_k E log(1−u_k) + log γ.
struct TopLevel {
  double gamma;
  Vec c1, c0;  // coefficients of log u_k and log(1 − u_k), K numbers each
};

/// The statistics of J plain (not sticky) groups whose proportions are Dirichlet(απ): c1_k = J + 1 and c0_k =
/// J (K + 1 − k) + γ.
TopLevel top_level(Index k, double groups, double gamma);

/// The value of L_top, the objective's part that depends on the sticks (see TopLevel), for these sticks.
RoundedSum top_value(const TopLevel& top, const HdpSticks& q);

/// A further term of the objective that depends on the sticks u through the moments of π under q(u). Returns
/// its value. If the gradient is not null, its derivatives are added to it.
using WeightFunction = std::function<RoundedSum(const WeightMoments& pi, WeightMoments* gradient)>;

/// The optimal posterior Beta(û ω̂, (1 − û) ω̂) of each stick if L_top (see TopLevel) is the only term of the
/// objective: û = c1 / (c1 + c0), ω̂ = c1 + c0.
HdpSticks closed_form(const TopLevel& top);

/// Maximises L_top(û, ω̂) + f over the parameters û, ω̂ of the sticks' Beta distributions, by L-BFGS in
/// (logit û, log ω̂). L_top is described at TopLevel; f is a further term. The search begins at `from`, if it
/// has K sticks, or at the closed form, whichever has the larger value. The value of the result is at least
/// that.
///
/// For every û the optimal ω̂ is finite. With a = ûω̂, b = (1 − û)ω̂ and the decreasing function t(x) =
/// xψ'(x),
///   ω̂ ∂L_top/∂ω̂ = (c1 − a) (t(a) − t(ω̂)) + (c0 − b) (t(b) − t(ω̂)).
/// Therefore the ω̂ that maximises L_top lies between c1/û and c0/(1 − û). With f it may be larger, since f
/// may favour a small variance of π. The search keeps ω̂ above the smaller of the two and below 150 times the
/// larger. For û → 0, ω̂ grows as c1/û. û stays within [1e-100, 1 − 1e-12], since closer to 1 no digits of 1
/// − û would be left.
HdpSticks maximise_sticks(const TopLevel& top, const WeightFunction& f, const HdpSticks& from);

}  // namespace bnpvi
