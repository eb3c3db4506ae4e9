// Cluster weights that depend on covariates: common weights, multiplied by an exponential function (tilt) of
// the covariates.
#pragma once
#include "foundation/named_array.h"
#include "foundation/types.h"

namespace bnpvi {

/// The prior of cluster weights that depend on covariates. For rows with covariate pattern c, whose
/// covariates are x_c (P numbers), the probability of cluster k is
///
///   p(z = k | c) = π_k exp(x_c'λ_k) / Z_c,   Z_c = Σ_k π_k exp(x_c'λ_k) + π_rest,   λ_k ~ N(0, s² I).
///
/// There are two kinds of π. Either π follows a Dirichlet process with sticks u_k ~ Beta(1, γ); π_rest is
/// then the weight of all clusters not found yet, which does not depend on covariates. Or π ~ Dirichlet(γ/K,
/// ..., γ/K) over K clusters, and π_rest = 0.
struct TiltPrior {
  Index patterns = 1;        // C, the number of covariate patterns
  Index columns = 0;         // P, the number of covariates
  Vec x;                     // covariates of each pattern, C × P, row-major
  double variance = 1;       // s², prior variance of the effects
  double concentration = 1;  // γ, the concentration
  bool finite = false;
  /// If not empty: parameters of the Dirichlet prior of π that replace γ/K, one for each cluster and, if
  /// `rest` is true, one for π_rest. The bound L (see Tilt) then lacks the normaliser of the prior.
  Vec weights;
  bool rest = false;
  /// Coefficients, K × (1 + P) or empty, of a linear term that is added to the bound: pull_k0 E log π_k +
  /// pull_k'm_k for each cluster k, with m_k the mean of its effects λ_k under q. How the optimum changes
  /// with `pull` gives the covariance of weights and effects (linear response).
  Vec pull;
};

/// The parameters of q(π) Π_k N(λ_k; m_k, S_k), the posterior of the common weights π and the effects λ_k of
/// covariates. They are stored cluster by cluster, each with
///   the parameters of its weight: a_k and b_k of the stick's Beta(a_k, b_k) or, in a finite model, θ_k of
///     Dirichlet(θ);
///   m_k;
///   the lower triangle of S_k⁻¹, packed by rows.
/// The Dirichlet parameter of π_rest, if there is one, comes last. Let N_ck be the number of cluster k's rows
/// with covariate pattern c, n_c = Σ_k N_ck, and π̄ the mean of π under q. The bound is
///
///   L = Σ_ck N_ck (E log π_k + x_c'm_k) − Σ_c n_c log [ Σ_k π̄_k exp(x_c'm_k + ½ x_c'S_k x_c) + π̄_rest ]
///       − KL(q(π)) − Σ_k KL(N(m_k, S_k) ‖ N(0, s² I)),
///
/// by Jensen's inequality for −log Z_c. ρ_ck are the terms of the bracket divided by their sum: the
/// proportions of the clusters and of the rest among rows of pattern c. Without covariates, or if all x are
/// 0, L is the bound of the prior without covariates, whose maximum has a closed form.
///
/// Counts are K × (1 + C), row-major: the size of each cluster, then the number of its rows with each of the
/// C patterns.
using Tilt = Vec;

/// Number of parameters of q for each cluster (tilt_width) and for all K clusters together (tilt_numbers).
Index tilt_width(const TiltPrior& prior);
Index tilt_numbers(const TiltPrior& prior, Index k);
Index tilted_clusters(const TiltPrior& prior, const Tilt& q);  // K, computed from the length of q

/// The variational bound L (see Tilt) for these counts of rows by cluster and covariate pattern.
double tilt_value(const TiltPrior& prior, const Vec& counts, const Tilt& q);

/// Finds the parameters q that maximise the bound L (see Tilt). near: start of the search. If it is empty, or
/// has another number of clusters, the search starts from the weights without covariates. The result is never
/// worse than `near`.
///
/// Two steps alternate until a round gains less than 1e-10 for each row. The first moves S_k⁻¹ to its fixed
/// point I/s² + Σ_c n_c ρ_ck x_c x_c'. If L would fall, it goes only half of the way, a quarter, and so on.
/// In the second step, L-BFGS optimises all m_k and q(π) jointly, because a common shift of all m_k changes
/// little but the proportion of the rest.
Tilt best_tilt(const TiltPrior& prior, const Vec& counts, const Tilt& near);

/// Improves q as best_tilt() does, but ends after one round of few steps. For proposals that are optimised
/// fully before they are compared.
Tilt rough_tilt(const TiltPrior& prior, const Vec& counts, const Tilt& near);

/// Where a search begins after cluster b has joined cluster a < b of an open model (not finite), which then
/// comes at place a: their weights are added, and the means of their effects averaged by these weights. All
/// other weights and effects are as in q.
Tilt joined_tilt(const TiltPrior& prior, const Tilt& q, Index a, Index b);

/// Where a search begins if the clusters come in another order: the sticks are those that give them the same
/// mean weights, and all else goes along with its cluster.
Tilt tilt_in_order(const TiltPrior& prior, const Tilt& q, const std::vector<Index>& order);

/// Log weights of the clusters, K × (1 + C), row-major: E log π_k, then x_c'm_k for each covariate pattern c.
/// For rows of pattern c, E log π_k + x_c'm_k is the log weight of cluster k, up to a constant of the
/// pattern.
Vec tilt_log_weights(const TiltPrior& prior, const Tilt& q);

/// The proportions ρ_ck of the clusters and of the rest among rows of each covariate pattern c (see Tilt): C
/// × (K + 1), row-major, the rest last. log_normalisers: unless null, receives C numbers, for each pattern
///   log [ Σ_k π̄_k exp(x_c'm_k + ½ x_c'S_k x_c) + π̄_rest ].
Vec tilt_shares(const TiltPrior& prior, const Tilt& q, Vec* log_normalisers = nullptr);

/// Parameters to report: "untilted_sticks" (K × 2) or "untilted_concentration" (K) of the common weights,
/// "effects" (the means m_k, K × P) and "effects_cov" (the covariances S_k, P × P × K).
NamedArrays tilt_arrays(const TiltPrior& prior, const Tilt& q);

}  // namespace bnpvi
