// The prior that Gaussian clusters have in common, learned from them.
#pragma once
#include <functional>
#include <vector>

#include "foundation/pool.h"
#include "foundation/types.h"

namespace bnpvi {

/// Normal–Wishart prior of clusters of D columns, which come in J blocks of d columns each, independent of
/// each other: J = 1 for full covariances, d = 1 for diagonal ones. Precisions of a block: Λ ~ W(ν, B⁻¹);
/// means μ | Λ ~ N(m, (κΛ)⁻¹). In engine units (see Columns).
struct NormalWishart {
  Vec mean;             // m, D; empty: known to be zero
  double strength = 1;  // κ; unused without means
  double df = 1;        // ν
  Vec scale;            // B, J × d × d
};

/// What the posteriors of clusters say of their prior: sums over clusters k and blocks, where E Λ = ν̂ B̂⁻¹ and
/// e_k = m̂_k − m, m the prior's mean.
struct ExpectedClusters {
  double evidence = 0;     // Σ Λ(T_k)
  double log_det = 0;      // Σ E log|Λ_k|
  Vec precision;           // Σ E Λ_k, J × d × d
  Vec weighted_offset;     // Σ E Λ_k e_k, D; empty without means
  double mean_spread = 0;  // Σ [d/κ̂_k + e_kᵀ E Λ_k e_k]
};

/// Sum of expect(t_k) over the clusters with observations, of K with statistics t (K × p), in their order.
ExpectedClusters sum_over_clusters(const double* t, Index k, Index p, Pool* pool,
                                   const std::function<ExpectedClusters(const double*)>& expect);

/// log p(m, κ, ν, B), and its use: EM for the prior of K clusters, on Σ_k Λ(T_k) + log p.
///
/// Around the location c and the squared spread v of the columns of the data, and with Ψ = B/ν,
///   m ~ N(c, diag v);   log κ uniform on [1e-6, 1e2];   ν − d + 1 ~ exponential with mean 100;
///   Ψ of a block ~ W(d + 2, (d + 2)⁻¹ diag v), of which v is the mean.
/// Densities are those of (m − c)/√v, log κ, ν and, as for Ψ under dΨ/|Ψ|^((d+1)/2), of relative changes of
/// Ψ, so that log p does not depend on the units of the columns. Since ν pays for being large, few clusters
/// that look alike do not end with infinite ν. Clusters are narrower than the data, for which Ψ has a light
/// tail above v and a heavy one below. (Mean and degrees of freedom are guesses.)
///
/// Ψ ⪰ 1e-6 diag v in every direction: data that are constant or collinear in every cluster would send Ψ to 0
/// and the evidence to infinity. (A guess: a thousandth of a column's standard deviation.)
class GaussianHyperprior {
 public:
  /// centre, variance: c and v of all D columns in engine units; d: columns of a block.
  GaussianHyperprior(Vec centre, Vec variance, Index d);

  double log_density(const NormalWishart& prior) const;

  /// Clusters from which a prior is learned. One alone would make the prior look like all data, and births
  /// that are right be refused; with three a fit that has two under a bad prior would stay there
  /// (decisions.md).
  static constexpr Index fewest_clusters = 2;

  /// Posterior expectations under a prior; those of a learned prior are asked for up to seven times.
  using Expect = std::function<ExpectedClusters(const NormalWishart&)>;

  /// A prior with at least as large a value of Σ_k Λ(T_k) + log p, for K clusters that have observations:
  /// four rounds of EM, each in closed form but for ν, with an extrapolation after two [Varadhan and Roland
  /// 2008, scheme S3] that is kept where it is better.
  NormalWishart learned(const NormalWishart& prior, Index k, const Expect& expect) const;

 private:
  struct Point;
  NormalWishart next(const NormalWishart& prior, double k, const ExpectedClusters& e) const;
  void improve_mean(NormalWishart& prior, double k, const ExpectedClusters& e) const;
  Vec improved_shape(double df, double k, const ExpectedClusters& e) const;
  double improved_df(const Vec& shape, double k, const ExpectedClusters& e) const;
  Vec coordinates(const NormalWishart& prior) const;
  NormalWishart from_coordinates(const Vec& x, const NormalWishart& like) const;
  double log_det(const Vec& shape) const;
  void scale_by_spread(double* block, Index j, int sign) const;

  Vec centre_, variance_;
  Index d_, blocks_;
};

}  // namespace bnpvi
