// Degrees of nodes (numbers of their links) in a degree-corrected blockmodel.
#pragma once
#include "networks/links.h"

namespace bnpvi::networks {

/// The size of a cluster, or of one node: the count of nodes, the number of their link ends d_i, and of the
/// additional ends h_i that stand for hidden pairs (see Degrees). In a model without degrees only the count
/// is used.
struct Mass {
  double nodes = 0, ends = 0, lent = 0;
  double theta() const { return nodes + ends + lent; }
  Mass operator+(const Mass& x) const { return {nodes + x.nodes, ends + x.ends, lent + x.lent}; }
  Mass operator-(const Mass& x) const { return {nodes - x.nodes, ends - x.ends, lent - x.lent}; }
};

/// The degrees of nodes in a degree-corrected blockmodel, in which nodes i and j of clusters k and l have
/// y_ij ~ Poisson(t_i t_j φ_kl); links of a node with itself are Poisson(t_i² φ_kk / 2). Undirected. t_i is
/// the activity of node i. In a cluster of n_k nodes t = n_k Dirichlet(1, ..., 1), which averages 1 [Karrer
/// and Newman 2011, with the prior of Côme, Jouvin, Latouche and Bouveyron 2021]. Whatever t is, N_kl = Σ t_i
/// t_j over pairs is n_k n_l, and n_k² / 2 within a cluster. With S_kl the number of links between two
/// clusters, Λ the log evidence of φ_kl (LinkModel), d_i the link ends of node i and D_k their sum over
/// cluster k,
///   log p(y | z) = Σ_{k≤l} Λ(N_kl, S_kl) + Σ_k [D_k log n_k + log Γ(n_k) − log Γ(n_k + D_k)]
///                  + Σ_i log Γ(1 + d_i) − Σ log y_ij! − (links of nodes with themselves) log 2.
///
/// If pairs are hidden (not observed), the sums of t_i t_j over observed pairs depend on t, and log p(y | z)
/// is bounded with
///   q(t_k) = n_k Dirichlet(θ),  θ_i = 1 + d_i + h_i,  Θ_k = n_k + D_k + H_k:
///   N_kl = n_k n_l (1 − Σ_hidden θ_i θ_j / (Θ_k Θ_l)),
///   N_kk = n_k² (½ − Σ_hidden θ_i θ_j / (Θ_k (Θ_k + 1))).
/// Here h_i are additional link ends (see below) and H_k their sum over the cluster. The bracket of a cluster
/// becomes D log n + log Γ(n) − log Γ(Θ) + H ψ(Θ), and log Γ(1 + d_i) becomes log Γ(θ_i) − h_i ψ(θ_i). This
/// is a bound for any h, exact for h = 0 without hidden pairs. h_i is about the number of link ends that the
/// node's hidden pairs would have if they had as many as its other pairs: (1 + d_i) δ x_i / (1 + δ (1 −
/// x_i)), with x_i the fraction of its n pairs that is hidden and δ the mean degree of a node without hidden
/// pairs; a node all of whose pairs are hidden is as active as the average. h_i is rounded to multiples of
/// 2^−10, so that sums are exact in any order.
class Degrees {
 public:
  explicit Degrees(const Links& links);

  Mass of(Index i) const { return {1, ends_[i], lent_[i]}; }
  double theta(Index i) const { return 1 + ends_[i] + lent_[i]; }
  const Vec& ends() const { return ends_; }
  const Vec& lent() const { return lent_; }
  /// The terms of log p(y | z) that do not depend on the labels z: those of single nodes, and the base
  /// measure of links of nodes with themselves.
  double log_base() const { return log_base_; }
  /// The term of one cluster in log p(y | z), given its size: D log n + log Γ(n) − log Γ(Θ) + H ψ(Θ), with n
  /// the nodes, D their link ends, H the additional ends and Θ = n + D + H; 0 for a cluster without nodes.
  static double evidence(const Mass& cluster);
  /// The sums of E t_i t_j over the observed pairs of two clusters (N_kl) or, pairs_within(), of one cluster
  /// with itself (N_kk). hidden: Σ θ_i θ_j over the hidden pairs.
  static double pairs(const Mass& a, const Mass& b, double hidden);
  static double pairs_within(const Mass& a, double hidden);

 private:
  Vec ends_, lent_;  // d_i, link ends of each node, and h_i, additional ends for hidden pairs
  double log_base_ = 0;
};

}  // namespace bnpvi::networks
