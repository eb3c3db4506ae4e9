// Weights of clusters that depend on covariates, as a tilt of weights that do not.
#pragma once
#include "foundation/named_array.h"
#include "foundation/types.h"

namespace bnpvi {

/// The prior of tilted weights. Of rows with covariate pattern c, which has the covariates x_c (P numbers),
///
///   p(z = k | c) = π_k exp(x_c'λ_k) / Z_c,   Z_c = Σ_k π_k exp(x_c'λ_k) + π_rest,   λ_k ~ N(0, s² I),
///
/// where π follows a Dirichlet process, whose sticks u_k ~ Beta(1, γ) leave π_rest to clusters not found yet,
/// which are not tilted; or π ~ Dirichlet(γ/K, ..., γ/K) of K clusters, and π_rest = 0.
struct TiltPrior {
  Index patterns = 1;        // C
  Index columns = 0;         // P
  Vec x;                     // C × P, row-major
  double variance = 1;       // s²
  double concentration = 1;  // γ
  bool finite = false;
  /// Of a Dirichlet prior with other parameters than γ/K: that of each cluster and, if there is a `rest`,
  /// that of π_rest. Then L lacks the normaliser of the prior.
  Vec weights;
  bool rest = false;
  /// What is added to the bound for each cluster, K × (1 + P) or empty: pull_k0 E log π_k + pull_k'm_k. How
  /// the optimum answers to it says how uncertain weights and effects are (linear response).
  Vec pull;
};

/// q(π) Π_k N(λ_k; m_k, S_k) of K clusters, each of whose rows has the parameters of its own weight: of
/// sticks a_k, b_k of Beta(a_k, b_k), of a finite model θ_k of Dirichlet(θ); then m_k and the lower triangle
/// of S_k⁻¹, packed by rows. That of π_rest, if it is a parameter of the Dirichlet, comes last. With the
/// counts N_ck, of which n_c = Σ_k N_ck are rows of pattern c, its bound is
///
///   L = Σ_ck N_ck (E log π_k + x_c'm_k) − Σ_c n_c log [ Σ_k π̄_k exp(x_c'm_k + ½ x_c'S_k x_c) + π̄_rest ]
///       − KL(q(π)) − Σ_k KL(N(m_k, S_k) ‖ N(0, s² I)),
///
/// by Jensen's inequality for −log Z_c. The bracket's parts, which sum to 1, are the shares ρ_ck of clusters
/// and of the rest among rows of pattern c. Without covariates, or where all x are 0, this is the bound of
/// the untilted prior, and its maximum is found at once.
///
/// Counts are K × (1 + C), row-major: the size of each cluster, then its rows by pattern.
using Tilt = Vec;

/// Numbers of each cluster's row, and of all.
Index tilt_width(const TiltPrior& prior);
Index tilt_numbers(const TiltPrior& prior, Index k);
Index tilted_clusters(const TiltPrior& prior, const Tilt& q);  // K

/// L.
double tilt_value(const TiltPrior& prior, const Vec& counts, const Tilt& q);

/// The maximum of L. near: where the search starts; empty, or of another K: from the weights without
/// covariates. L there is never below that at `near`.
///
/// S_k⁻¹ steps to its fixed point I/s² + Σ_c n_c ρ_ck x_c x_c', half way and so on where L would fall; then
/// L-BFGS takes all m_k and q(π) together, since a common shift of all m_k changes little but the share of
/// the rest; and so on, until a round gains less than 1e-10 a row.
Tilt best_tilt(const TiltPrior& prior, const Vec& counts, const Tilt& near);

/// The same, given up after one round of a few steps: for proposals, which are judged by the maximum later.
Tilt rough_tilt(const TiltPrior& prior, const Vec& counts, const Tilt& near);

/// What rows of each pattern have in place of E log π_k, up to a term of the pattern alone: K × (1 + C),
/// row-major, E log π_k, then x_c'm_k.
Vec tilt_log_weights(const TiltPrior& prior, const Tilt& q);

/// ρ, C × (K + 1), row-major; the rest comes last. log_normalisers, unless null: log of the bracket, C.
Vec tilt_shares(const TiltPrior& prior, const Tilt& q, Vec* log_normalisers = nullptr);

/// For users: "untilted_sticks" (K × 2) or "untilted_concentration" (K), "effects" (m, K × P) and
/// "effects_cov" (S, P × P × K).
NamedArrays tilt_arrays(const TiltPrior& prior, const Tilt& q);

}  // namespace bnpvi
