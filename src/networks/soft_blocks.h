// The variational posterior of a stochastic blockmodel with soft labels of nodes.
#pragma once
#include "foundation/archive.h"
#include "networks/link_model.h"
#include "networks/links.h"
#include "networks/owners.h"

namespace bnpvi::networks {

/// The part of the bound that belongs to the stick-breaking weights of the clusters: Σ_k [lB(1 + R_k, γ +
/// R_>k) − lB(1, γ)]. R_k: the size of cluster k; R_>k: the sum of the sizes after k; lB: the log Beta
/// function.
double stick_evidence(const Vec& sizes, double gamma);

/// The terms of the bound of a blockmodel. sum() is the bound.
struct BlockBound {
  double data = 0;        // Σ_blocks Λ(T_kl), the blocks' evidence
  double base = 0;        // Σ log h(y), the base measure of the links
  double degrees = 0;     // terms of the nodes' degrees (degrees.h)
  double allocation = 0;  // stick_evidence() of the sizes
  double entropy = 0;     // H(r), the entropy of the labels
  double sum() const { return data + base + degrees + allocation + entropy; }
};

/// A variational posterior with soft labels r: q(z_i) = r_i, the probabilities of the clusters for node i.
/// The other factors of q are optimal given r. Sticks are Beta(1 + R_k, γ + R_>k) in the order of the
/// clusters, with R_k = Σ_i r_ik and R_>k = Σ_{l>k} R_l. Blocks have the statistics
///   N = R Rᵀ − rᵀr − (hidden pairs),  S = rᵀ Y r.
/// In undirected networks Y is symmetric, and the diagonal of S counts half. The bound includes all pairs of
/// nodes. r_ik is 0 where node i may not be in cluster k (owners.h). The bound is then one of log p(y, each
/// z_i allowed).
class SoftBlocks {
 public:
  /// r: soft labels of the nodes, n × k, row-major; rows sum to 1. owner: the class that owns each cluster;
  /// if empty, all clusters are open.
  SoftBlocks(const Links& links, const LinkModel& model, double gamma, Index k, Vec r, Owners owner = {});

  Index k() const { return k_; }
  const Vec& r() const { return r_; }
  const Owners& owner() const { return owner_; }
  const Vec& sizes() const { return size_; }  // R, the expected sizes
  double pairs(Index a, Index b) const { return n_[a * k_ + b]; }
  double sum(Index a, Index b) const { return s_[a * k_ + b]; }
  BlockBound bound() const;

  /// Visits every node, in order, with q of the blocks and of the sticks as they were before. Then updates
  /// these two. Each step raises the bound. A node takes O(degree K + K²) time.
  void lap();

  /// Makes a step of stochastic learning. The natural gradient of the bound with respect to q of the blocks
  /// is the statistic that r implies, minus the present one. The implied statistic is estimated from the
  /// pairs of `nodes`. Each pair counts half at each of its two nodes, and the sum is scaled by n over the
  /// number of `nodes`, which is unbiased over all sets of so many nodes. Blocks move by `rate` towards the
  /// estimate, then the nodes are visited. The sizes R are always those of r. lap() makes the statistics
  /// exact again.
  void step(const std::vector<int>& nodes, double rate);

  /// This state with clusters a and b joined. They must not have two different owners.
  SoftBlocks merged(Index a, Index b) const;
  /// This state with everything recomputed from the soft labels r.
  SoftBlocks anew() const { return SoftBlocks(links_, model_, gamma_, k_, r_, owner_); }

  void write(Writer& out) const;
  /// Reads what write() wrote, with its number of clusters. Throws std::invalid_argument when the stored
  /// state does not belong to this network.
  void read(Reader& in);

 private:
  struct Weights {
    Vec none, link;  // weights of the blocks (LinkWeights), K × K
    Vec prior;       // E log of the sticks' proportions
  };
  // Sums of the labels r_j over other nodes j, for one node. out: over the links from the node to j, weighted
  // by their values; in: over the links from j. pairs_out, pairs_in: over all pairs of the node that are
  // observed, linked or not, each counted once. Undirected networks use `out` and `pairs_out` only.
  struct Met {
    Vec out, in, pairs_out, pairs_in;
  };
  Weights weights() const;
  void meet(Index i, Met& met) const;
  void visit(Index i, const Weights& weights, Met& met);
  void refresh();  // computes statistics and sizes from r

  const Links& links_;
  const LinkModel& model_;
  double gamma_;
  Index k_;
  Owners owner_;
  Vec r_, size_, n_, s_;
};

}  // namespace bnpvi::networks
