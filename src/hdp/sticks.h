// The top level of a hierarchical Dirichlet process: sticks u that all groups share.
#pragma once
#include <functional>

#include "foundation/rounded_sum.h"
#include "foundation/types.h"

namespace bnpvi {

/// q(u_k) = Beta(û_k ω̂_k, (1 − û_k) ω̂_k), k = 1..K.
struct HdpSticks {
  Vec u, omega;
};

/// π(û): K weights by stick breaking and after them the remainder, K + 1 numbers, none below 1e-250. (At a
/// weight raised to that, the bound is too low by at most 1 a group.)
Vec weights_from_sticks(const Vec& u);

/// û of K sticks with the given K + 1 positive weights (scaled to sum to 1), none beyond [1e-100, 1 − 1e-12].
Vec sticks_from_weights(const Vec& weights);

/// What the top level sees of J groups, through the bound on the cumulant of Dirichlet(απ)
///   log Γ(α) − Σ_{k≤K+1} log Γ(απ_k) ≥ K log α + Σ_{k≤K+1} log π_k:
/// c1 and c0_k count the log u_k and log(1 − u_k), prior included:
///   L_top = Σ_k { lB(û_kω̂_k, (1−û_k)ω̂_k) − lB(1, γ)
///                + (c1 − û_kω̂_k) E log u_k + (c0_k − (1−û_k)ω̂_k) E log(1−u_k) },
/// lB the logarithm of the Beta function. Constants of the bound (J K log α) are the caller's. Terms that
/// grow with û ω̂ and (1 − û) ω̂ cancel, and are left out of the sum: with R(x) = x + log Γ(x) − xψ(x) a
/// stick's is
///   R(ûω̂) + R((1−û)ω̂) − R(ω̂) + c1 E log u_k + c0_k E log(1−u_k) + log γ.
struct TopLevel {
  double gamma;
  double c1;
  Vec c0;  // K
};

/// J plain groups: c1 = J + 1, c0_k = J (K + 1 − k) + γ.
TopLevel top_level(Index k, double groups, double gamma);

/// L_top.
RoundedSum top_value(const TopLevel& top, const HdpSticks& q);

/// What else depends on π(û): value at the K + 1 weights; writes its gradient there (length K + 1).
using WeightFunction = std::function<RoundedSum(const Vec& pi, Vec& gradient)>;

/// Maximises L_top(û, ω̂) + f(π(û)) by L-BFGS in (logit û, log ω̂), from `from` when it has K sticks, or from
/// û = c1 / (c1 + c0), ω̂ = c1 + c0 if that is better; the value is at neither above the one returned.
///
/// At every û the best ω̂ is finite: with a = ûω̂, b = (1 − û)ω̂ and t(x) = xψ'(x), which decreases,
///   ω̂ ∂L_top/∂ω̂ = (c1 − a) (t(a) − t(ω̂)) + (c0 − b) (t(b) − t(ω̂)),
/// so that c1/û and c0/(1 − û) are on its two sides, and ω̂ is kept between them. It may be large: for û → 0
/// it grows as c1/û. û is kept within [1e-100, 1 − 1e-12]: beyond, 1 − û would have no digits left.
HdpSticks maximise_sticks(const TopLevel& top, const WeightFunction& f, const HdpSticks& from);

}  // namespace bnpvi
