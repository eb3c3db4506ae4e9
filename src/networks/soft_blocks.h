// Variational posterior of a stochastic blockmodel: soft labels.
#pragma once
#include "foundation/archive.h"
#include "networks/link_model.h"
#include "networks/links.h"
#include "networks/owners.h"

namespace bnpvi::networks {

/// Σ_k lB(1 + R_k, γ + R_>k) − lB(1, γ)
double stick_evidence(const Vec& sizes, double gamma);

/// Parts of the bound; they sum to it.
struct BlockBound {
  double data = 0;        // Σ_blocks Λ(T_kl)
  double base = 0;        // Σ log h(y)
  double degrees = 0;     // what degrees add (degrees.h)
  double allocation = 0;  // of the sticks
  double entropy = 0;     // H(r)
  double sum() const { return data + base + degrees + allocation + entropy; }
};

/// q(z_i) = r_i, with sticks Beta(1 + R_k, γ + R_>k) in the order of the clusters and blocks at their optimum
/// for
///   N = R Rᵀ − rᵀr − (hidden pairs),  S = rᵀ Y r   (undirected: the same with Y symmetric, half of it for k
///   = l),
/// R_k = Σ_i r_ik. The bound is exact: no pair is left out or sampled. r_ik is 0 where node i may not be
/// (owners.h): then the bound is one of log p(y, z in the sets of all nodes).
class SoftBlocks {
 public:
  /// r: n × k, row-major, rows summing to 1. owner: none, all clusters are open.
  SoftBlocks(const Links& links, const LinkModel& model, double gamma, Index k, Vec r, Owners owner = {});

  Index k() const { return k_; }
  const Vec& r() const { return r_; }
  const Owners& owner() const { return owner_; }
  const Vec& sizes() const { return size_; }  // R
  double pairs(Index a, Index b) const { return n_[a * k_ + b]; }
  double sum(Index a, Index b) const { return s_[a * k_ + b]; }
  BlockBound bound() const;

  /// Visits every node, in order, with q of blocks and sticks as they were before, then refreshes these: each
  /// of the steps raises the bound. A node costs O(degree K + K²).
  void lap();

  /// A step of stochastic learning. The natural gradient of the bound with respect to q of the blocks, at the
  /// present r, is their statistic minus what they have: here an estimate from the pairs of these nodes,
  /// every pair half at each of its ends, times n over their number. Its mean over all sets of as many nodes
  /// is the statistic of all pairs. Blocks go `rate` of the way, then the nodes are visited. Sizes are always
  /// those of r; lap() makes statistics exact again.
  void step(const std::vector<int>& nodes, double rate);

  /// The same with a and b joined, which have one owner at most.
  SoftBlocks merged(Index a, Index b) const;
  /// The same with all but r made anew.
  SoftBlocks anew() const { return SoftBlocks(links_, model_, gamma_, k_, r_, owner_); }

  void write(Writer& out) const;
  /// What write() wrote, with as many clusters as there were. Throws std::invalid_argument when it is none of
  /// this network.
  void read(Reader& in);

 private:
  struct Weights {
    Vec none, link;  // of blocks, K × K
    Vec prior;       // E log of the sticks' proportions
  };
  // Σ over a node's pairs of r_other: values of links and numbers of pairs, from it and to it (undirected:
  // from it).
  struct Met {
    Vec out, in, pairs_out, pairs_in;
  };
  Weights weights() const;
  void meet(Index i, Met& met) const;
  void visit(Index i, const Weights& weights, Met& met);
  void refresh();  // statistics and sizes from r

  const Links& links_;
  const LinkModel& model_;
  double gamma_;
  Index k_;
  Owners owner_;
  Vec r_, size_, n_, s_;
};

}  // namespace bnpvi::networks
