// The variational posterior of a stochastic blockmodel with soft labels of nodes.
#pragma once
#include "foundation/archive.h"
#include "networks/link_model.h"
#include "networks/links.h"
#include "networks/owners.h"

namespace bnpvi::networks {

/// The part of the bound that belongs to the stick-breaking weights of clusters: Σ_k [lB(1 + R_k, γ + R_>k) −
/// lB(1, γ)], with R the sizes of clusters, R_>k the sum of the sizes after k, and lB the log Beta function.
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

/// A variational posterior with soft labels r: q(z_i) = r_i, the probabilities of node i's clusters. It has
/// optimal sticks Beta(1 + R_k, γ + R_>k) in the order of the clusters, R_k = Σ_i r_ik, R_>k = Σ_{l>k} R_l,
/// and optimal blocks for the statistics
///   N = R Rᵀ − rᵀr − (hidden pairs),  S = rᵀ Y r   (undirected: Y is symmetric, and half of S is used for
///   k = l).
/// The bound is exact: all pairs of nodes are included. r_ik is 0 where node i may not be in cluster k
/// (owners.h): the bound is then one of log p(y, z in the sets of all nodes).
class SoftBlocks {
 public:
  /// r: soft labels of the nodes, n × k, row-major; rows sum to 1. owner: the class that owns each cluster;
  /// empty: all clusters are open.
  SoftBlocks(const Links& links, const LinkModel& model, double gamma, Index k, Vec r, Owners owner = {});

  Index k() const { return k_; }
  const Vec& r() const { return r_; }
  const Owners& owner() const { return owner_; }
  const Vec& sizes() const { return size_; }  // R, the expected sizes
  double pairs(Index a, Index b) const { return n_[a * k_ + b]; }
  double sum(Index a, Index b) const { return s_[a * k_ + b]; }
  BlockBound bound() const;

  /// Visits every node, in order, with q of the blocks' parameters and of the clusters' weights as they were
  /// before, then updates these two: each step raises the bound. A node takes O(degree K + K²) time.
  void lap();

  /// Makes a step of stochastic learning. The natural gradient of the bound with respect to q of the blocks,
  /// at the present r, is the statistic that r implies minus the present one. The statistic is estimated from
  /// the pairs of these nodes, each pair counted half at each of its ends, times n over their number, which
  /// is unbiased over all sets of so many nodes. Blocks move by `rate` towards the estimate, then the nodes
  /// are visited. Sizes are always those of r; lap() makes statistics exact again.
  void step(const std::vector<int>& nodes, double rate);

  /// This state with clusters a and b joined; they must not belong to two different classes.
  SoftBlocks merged(Index a, Index b) const;
  /// This state with everything but the soft labels r computed again.
  SoftBlocks anew() const { return SoftBlocks(links_, model_, gamma_, k_, r_, owner_); }

  void write(Writer& out) const;
  /// Reads what write() wrote, with the number of clusters stored there. Throws std::invalid_argument when
  /// the stored state does not belong to this network.
  void read(Reader& in);

 private:
  struct Weights {
    Vec none, link;  // weights of the blocks (LinkWeights), K × K
    Vec prior;       // E log of the sticks' proportions
  };
  // Sums of the labels r_other of the other ends over a node's pairs: weighted by the values of its links
  // (out, in), and by numbers of pairs (pairs_out, pairs_in). Pairs that leave the node and pairs that arrive
  // are separate; in an undirected network all are in `out` and `pairs_out`.
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
