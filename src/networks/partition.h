// A partition of the nodes of a network, with the statistics of its blocks and its log joint density with the
// data.
#pragma once
#include "foundation/random.h"
#include "networks/degrees.h"
#include "networks/link_model.h"
#include "networks/links.h"
#include "networks/owners.h"

namespace bnpvi::networks {

/// A partition of nodes by hard labels z in a stochastic blockmodel, with a Chinese restaurant prior of
/// concentration γ [Kemp and others 2006]. With n_k nodes in cluster k, N_kl pairs of total value S_kl in a
/// block (a pair of clusters), Λ the log evidence of a block and h the base measure (LinkModel), its log
/// joint density with the data is
///   J(z) = log p(y, z) = Σ_blocks Λ(N_kl, S_kl) + Σ log h(y)
///                        + K log γ + Σ_k log Γ(n_k) + log Γ(γ) − log Γ(γ + n).
/// Undirected: blocks k ≤ l; directed: all K². The order of clusters has no meaning. A network without nodes
/// has K = 0. With degrees, p(y | z) is that of degrees.h, or its bound where pairs are hidden.
///
/// All changes of J are exact, and cost as much as a node's row of the table: O(degree + K) for a node that
/// leaves or joins a cluster, O(degree + K²) for finding its best cluster. Clusters to which a node has no
/// links are compared, too: only then can clusters of nodes that avoid each other be found.
///
/// A cluster with labelled nodes belongs to their class, any other cluster is open; a node with a label may
/// join clusters that its label allows, and open ones (owners.h). For such labels z, J is a lower bound of
/// log p(y, clusters keep classes apart), where p(y, z) is summed over all z that keep them apart.
class Partition {
 public:
  /// labels: n labels from 0, with K the largest + 1; no cluster may be empty. The network, the model and the
  /// degrees must outlive this object. degrees: null: a model without degrees; otherwise the model must be
  /// that of counts in an undirected network. owner: empty: all clusters are open.
  Partition(const Links& links, const LinkModel& model, double gamma, std::vector<int> labels,
            const Degrees* degrees = nullptr, Owners owner = {});

  /// A partition with other labels of the same network, with the same model and prior.
  Partition with_labels(std::vector<int> labels, Owners owner = {}) const {
    return Partition(*links_, *model_, gamma_, std::move(labels), degrees_, std::move(owner));
  }
  /// This partition, with all statistics computed again from its labels.
  Partition anew() const { return with_labels(z_, owners()); }

  const Links& links() const { return *links_; }
  const std::vector<int>& labels() const { return z_; }
  int owner(Index a) const { return known_[a] > 0 ? owner_[a] : 0; }
  Owners owners() const;
  Index k() const { return k_; }
  double size(Index a) const { return mass_[a].nodes; }
  double pairs(Index a, Index b) const {  // N_ab, the number of pairs in a block
    return pairs_of(mass_[a], mass_[b], a == b, hidden_[at(a, b)]);
  }
  double sum(Index a, Index b) const { return s_[at(a, b)]; }  // S_ab, the total value of these pairs
  double log_joint() const;
  double evidence() const;          // Σ_blocks Λ, the blocks' part of J
  double degrees_evidence() const;  // the degrees' terms of log p(y | z), of clusters and nodes; 0 without

  /// Visits nodes one after the other and moves each to the cluster that is best for J, which may be a new
  /// one. Returns the number of moved nodes. among: if not empty, only these clusters may be chosen, and no
  /// new one.
  Index sweep(const std::vector<int>& nodes, const std::vector<int>& among = {});

  /// The gain of J (the log joint density) by joining clusters a and b; takes O(K) time.
  double merge_gain(Index a, Index b) const;
  bool can_merge(Index a, Index b) const { return can_join(owner(a), owner(b)); }
  /// Joins clusters a and b, which can_merge() must allow; the last cluster gets the number that becomes
  /// free.
  void merge(Index a, Index b);
  /// Joins pairs of clusters, the best pair first, as long as that raises J. Returns the number of pairs
  /// joined.
  Index merge_all();

  /// Divides the nodes of clusters a and b anew: two random nodes are seeds, the other nodes join, in random
  /// order, the cluster that gains more, and sweeps between the two follow. b = k() appends a cluster;
  /// otherwise both must belong to the same class, or none. Returns the change of J.
  double divide(Index a, Index b, Stream& stream);
  /// Divides cluster a into two: first these nodes leave it, then sweeps between the two follow. Returns the
  /// change of J.
  double divide(Index a, const std::vector<int>& leaves);
  bool has_degrees() const { return degrees_ != nullptr; }

  std::vector<int> members(Index a) const;
  std::vector<int> members(Index a, Index b) const;

 private:
  // Sums of a node over each cluster, K numbers each: the values of its links out and in, and the numbers of
  // its hidden pairs out and in; also the node's own size (Mass) and its links with itself.
  struct Ends {
    Vec out, in, hidden_out, hidden_in;
    Mass mass;
    double loops = 0;
  };

  // Two clusters joined into one: its size, and the statistics of the links within it.
  struct Joined {
    Mass mass;
    double hidden, s;
  };

  std::size_t at(Index a, Index b) const { return static_cast<std::size_t>(a * room_ + b); }
  Joined joined(Index a, Index b) const;
  void count_ends(int node);
  void add(int node, Index a, double sign);  // sign −1: removes it; count_ends() must have been called
  // The gain of J by adding to cluster a ≤ k (k: a new one) the node of count_ends(), which is in no cluster.
  double gain(Index a) const;
  Mass mass_of(int node) const { return degrees_ ? degrees_->of(node) : Mass{1, 0, 0}; }
  // The number N of observed pairs of a block. same: whether it is the block of a cluster with itself.
  // hidden: its number of hidden pairs or, with degrees, Σ θ_i θ_j over them (degrees.h).
  double pairs_of(const Mass& a, const Mass& b, bool same, double hidden) const;
  void set(Index a, Index b, double hidden, double s);
  void append(int owner);
  // Sweeps over these nodes between clusters a and b only; a cluster that is empty in the end is removed.
  void settle(const std::vector<int>& nodes, Index a, Index b);
  void drop_empty(Index a);
  void make_room(Index k);
  double cell(double n, double s) const { return model_->evidence(n, s); }

  const Links* links_;
  const LinkModel* model_;
  const Degrees* degrees_;
  double log_gamma_, gamma_;
  std::vector<int> z_;  // −1: in no cluster, during a change
  Index k_ = 0, room_ = 0;
  Owners owner_;              // owners of the K clusters; used where a cluster has nodes with a label
  std::vector<Index> known_;  // number of nodes with a label in each cluster
  std::vector<Mass> mass_;
  Vec hidden_, s_, lambda_;  // room × room; undirected: symmetric, pairs within a cluster once
  Ends ends_;
};

}  // namespace bnpvi::networks
