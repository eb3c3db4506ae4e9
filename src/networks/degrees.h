// Degrees (numbers of links) of nodes in a blockmodel with degree correction.
#pragma once
#include "networks/links.h"

namespace bnpvi::networks {

/// The size of a cluster or of one node. nodes: the count of nodes. ends: the number of their link ends, Σ
/// d_i. lent: the number of additional ends Σ h_i, which stand for hidden pairs (see Degrees). A model
/// without degrees uses the count of nodes only.
struct Mass {
  double nodes = 0, ends = 0, lent = 0;
  double theta() const { return nodes + ends + lent; }
  Mass operator+(const Mass& x) const { return {nodes + x.nodes, ends + x.ends, lent + x.lent}; }
  Mass operator-(const Mass& x) const { return {nodes - x.nodes, ends - x.ends, lent - x.lent}; }
};

/// The degrees of nodes in an undirected blockmodel with degree correction [Karrer and Newman 2011]. A pair
/// of nodes i and j from clusters k and l has
///   y_ij ~ Poisson(t_i t_j φ_kl).
/// The number of links of a node with itself is Poisson(t_i² φ_kk / 2). t_i is the activity of node i.
/// Activities average 1 within a cluster: in a cluster of n_k nodes they are n_k Dirichlet(1, ..., 1) [Côme,
/// Jouvin, Latouche and Bouveyron 2021]. So the sum N_kl of t_i t_j over the pairs of two clusters is n_k
/// n_l, whatever t is; within a cluster N_kk = n_k² / 2.
///
/// Notation: S_kl is the number of links between clusters k and l, Λ the log evidence of a block (LinkModel),
/// d_i the number of link ends of node i, and D_k the sum of d_i over cluster k. Then
///   log p(y | z) = Σ_{k≤l} Λ(N_kl, S_kl) + Σ_k [D_k log n_k + log Γ(n_k) − log Γ(n_k + D_k)]
///                  + Σ_i log Γ(1 + d_i) − Σ log y_ij! − (links of nodes with themselves) log 2.
///
/// If some pairs are hidden (not observed), the sum of t_i t_j over the observed pairs depends on t. Then log
/// p(y | z) is replaced by a lower bound, with q(t_k) = n_k Dirichlet(θ) for the nodes of cluster k. Each
/// node has a number h_i of additional link ends, with sum H_k over the cluster, and
///   θ_i = 1 + d_i + h_i,  Θ_k = n_k + D_k + H_k,
///   N_kl = n_k n_l (1 − Σ_hidden θ_i θ_j / (Θ_k Θ_l)),
///   N_kk = n_k² (½ − Σ_hidden θ_i θ_j / (Θ_k (Θ_k + 1))).
/// The bracket of a cluster becomes D log n + log Γ(n) − log Γ(Θ) + H ψ(Θ), and log Γ(1 + d_i) becomes log
/// Γ(θ_i) − h_i ψ(θ_i). This is a lower bound for any h. It is exact if no pair is hidden and h = 0.
///
/// h_i is about the number of link ends that the hidden pairs of the node would have if they had links as
/// often as its other pairs: h_i = (1 + d_i) δ x_i / (1 + δ (1 − x_i)). Here x_i is the fraction of the n
/// pairs of node i that is hidden, and δ is the mean degree of nodes without hidden pairs. A node with hidden
/// pairs only is as active as the average. h_i is rounded to a multiple of 2^−10, so that sums of it are
/// exact in any order.
class Degrees {
 public:
  explicit Degrees(const Links& links);

  Mass of(Index i) const { return {1, ends_[i], lent_[i]}; }
  double theta(Index i) const { return 1 + ends_[i] + lent_[i]; }
  const Vec& ends() const { return ends_; }
  const Vec& lent() const { return lent_; }
  /// The terms of log p(y | z) that do not depend on the labels z: the terms of single nodes, and the terms
  /// −log y_ij! and −log 2 of links of nodes with themselves.
  double log_base() const { return log_base_; }
  /// The term of one cluster in log p(y | z): D log n + log Γ(n) − log Γ(Θ) + H ψ(Θ). n: number of nodes; D:
  /// their link ends; H: their additional ends; Θ = n + D + H. It is 0 for a cluster without nodes.
  static double evidence(const Mass& cluster);
  /// The expected sum of t_i t_j over the observed pairs of nodes: pairs() between two clusters (N_kl),
  /// pairs_within() within one cluster (N_kk). hidden: Σ θ_i θ_j over the hidden pairs.
  static double pairs(const Mass& a, const Mass& b, double hidden);
  static double pairs_within(const Mass& a, double hidden);

 private:
  Vec ends_, lent_;  // d_i, the link ends of each node, and h_i, its additional ends for hidden pairs
  double log_base_ = 0;
};

}  // namespace bnpvi::networks
