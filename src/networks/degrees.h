// Degrees of the nodes of a blockmodel that is corrected for them.
#pragma once
#include "networks/links.h"

namespace bnpvi::networks {

/// Sums over the nodes of a cluster, or of one node: nodes, their link ends d_i, and the ends h_i that stand
/// for their hidden pairs (in a model without degrees only nodes).
struct Mass {
  double nodes = 0, ends = 0, lent = 0;
  double theta() const { return nodes + ends + lent; }
  Mass operator+(const Mass& x) const { return {nodes + x.nodes, ends + x.ends, lent + x.lent}; }
  Mass operator-(const Mass& x) const { return {nodes - x.nodes, ends - x.ends, lent - x.lent}; }
};

/// y_ij ~ Poisson(t_i t_j φ_kl), the links of a node with itself Poisson(t_i² φ_kk / 2), and in a cluster of
/// n_k nodes t = n_k Dirichlet(1, ..., 1): activities that average 1 [Karrer and Newman 2011, with the prior
/// of Côme, Jouvin, Latouche and Bouveyron 2021]. Undirected. Sums over pairs of t_i t_j are n_k n_l, within
/// a cluster n_k² / 2, whatever t is, so that with d_i the link ends of node i and D_k their sum
///   log p(y | z) = Σ_{k≤l} Λ(N_kl, S_kl) + Σ_k [D_k log n_k + log Γ(n_k) − log Γ(n_k + D_k)]
///                  + Σ_i log Γ(1 + d_i) − Σ log y_ij! − (links of nodes with themselves) log 2.
/// Where pairs are hidden, t stays in the exposure, and log p(y | z) is bounded with
///   q(t_k) = n_k Dirichlet(θ),  θ_i = 1 + d_i + h_i,  Θ_k = n_k + D_k + H_k:
///   N_kl = n_k n_l (1 − Σ_hidden θ_i θ_j / (Θ_k Θ_l)),
///   N_kk = n_k² (½ − Σ_hidden θ_i θ_j / (Θ_k (Θ_k + 1))),
/// the bracket becomes D log n + log Γ(n) − log Γ(Θ) + H ψ(Θ), and log Γ(1 + d_i) becomes log Γ(θ_i) − h_i
/// ψ(θ_i): a bound for any h, which nothing hidden and h = 0 make exact. h lends a node what its hidden pairs
/// would have at the density of the others, (1 + d_i) δ x_i / (1 + δ (1 − x_i)) with x_i the part of its n
/// pairs that is hidden and δ the mean degree of a node that has none: all hidden, and it is as active as the
/// average. Multiples of 2^−10, so that sums are exact in any order.
class Degrees {
 public:
  explicit Degrees(const Links& links);

  Mass of(Index i) const { return {1, ends_[i], lent_[i]}; }
  double theta(Index i) const { return 1 + ends_[i] + lent_[i]; }
  const Vec& ends() const { return ends_; }
  const Vec& lent() const { return lent_; }
  /// What does not depend on labels: terms of nodes, and the base measure of links of nodes with themselves.
  double log_base() const { return log_base_; }
  /// The bracket, with h; 0 without nodes.
  static double evidence(const Mass& cluster);
  /// N of two clusters, of one with itself; `hidden`: Σ θ_i θ_j over the hidden pairs.
  static double pairs(const Mass& a, const Mass& b, double hidden);
  static double pairs_within(const Mass& a, double hidden);

 private:
  Vec ends_, lent_;  // d, h
  double log_base_ = 0;
};

}  // namespace bnpvi::networks
