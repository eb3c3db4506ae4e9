// A partition of the nodes of a network, with the statistics of its blocks and its log joint density with the
// data.
#pragma once
#include "foundation/random.h"
#include "networks/degrees.h"
#include "networks/link_model.h"
#include "networks/links.h"
#include "networks/owners.h"

namespace bnpvi::networks {

/// A partition of the nodes by hard labels z in a stochastic blockmodel. The prior of partitions is the
/// Chinese restaurant process of concentration γ [Kemp and others 2006]. n_k is the number of nodes in
/// cluster k. A block (a pair of clusters) has N_kl pairs of total value S_kl. Λ is the log evidence of a
/// block and h the base measure (LinkModel). The log joint density with the data is
///   J(z) = log p(y, z) = Σ_blocks Λ(N_kl, S_kl) + Σ log h(y)
///                        + K log γ + Σ_k log Γ(n_k) + log Γ(γ) − log Γ(γ + n).
/// An undirected network has the blocks k ≤ l, a directed one all K². The order of clusters has no meaning. A
/// network without nodes has K = 0. With degree correction, p(y | z) is that of degrees.h, or its bound if
/// pairs are hidden.
///
/// Changes of J are exact. It takes O(degree + K) time to move a node out of or into a cluster, and O(degree
/// + K²) to find its best cluster. Clusters to which a node has no links are compared, too. Otherwise
/// clusters of nodes that avoid each other could not be found.
///
/// A cluster with labelled nodes belongs to their class; any other cluster is open. A node with a label may
/// join clusters that its label allows, and open ones (owners.h). The sum of p(y, z) over all z that keep
/// classes apart is p(y, clusters keep classes apart). J(z) is a lower bound of its logarithm.
class Partition {
 public:
  /// labels: n labels from 0 to K − 1; no cluster may be empty. degrees: null in a model without degree
  /// correction. With degrees, the model must be that of counts, and the network undirected. owner: the
  /// owners of the K clusters; if empty, all are open. The network, the model and the degrees must outlive
  /// this object.
  Partition(const Links& links, const LinkModel& model, double gamma, std::vector<int> labels,
            const Degrees* degrees = nullptr, Owners owner = {});

  /// A partition with other labels of the same network, with the same model and prior.
  Partition with_labels(std::vector<int> labels, Owners owner = {}) const {
    return Partition(*links_, *model_, gamma_, std::move(labels), degrees_, std::move(owner));
  }
  /// This partition, with all statistics recomputed from the labels.
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
  double evidence() const;          // Σ_blocks Λ: the part of the blocks in J
  double degrees_evidence() const;  // the terms of degrees in log p(y | z); 0 without degrees

  /// Visits the nodes one after the other, and moves each to the cluster where J is largest, which may be a
  /// new one. among: if not empty, only these clusters may be chosen, and no new one. Returns the number of
  /// nodes that moved.
  Index sweep(const std::vector<int>& nodes, const std::vector<int>& among = {});

  /// By how much joining clusters a and b raises J, the log joint density. Takes O(K) time.
  double merge_gain(Index a, Index b) const;
  bool can_merge(Index a, Index b) const { return can_join(owner(a), owner(b)); }
  /// Joins clusters a and b; can_merge() must allow it. The last cluster gets the number that becomes free.
  void merge(Index a, Index b);
  /// Joins pairs of clusters as long as that raises J, the best pair first. Returns the number of pairs
  /// joined.
  Index merge_all();

  /// Divides the nodes of clusters a and b anew. Two random nodes are the first members. The other nodes, in
  /// random order, join the cluster that gains more. Then sweeps move nodes between the two. b = k() divides
  /// cluster a and appends the second one; otherwise both must have the same owner. Returns the change of J.
  double divide(Index a, Index b, Stream& stream);
  /// Divides cluster a into two. The nodes `leaves` leave it; then sweeps move nodes between the two. Returns
  /// the change of J.
  double divide(Index a, const std::vector<int>& leaves);
  bool has_degrees() const { return degrees_ != nullptr; }

  std::vector<int> members(Index a) const;
  std::vector<int> members(Index a, Index b) const;

 private:
  // What a node has with each cluster, K numbers each: the values of its links (out, in) and the numbers of
  // its hidden pairs (hidden_out, hidden_in). mass: the size of the node. loops: its links with itself.
  struct Ends {
    Vec out, in, hidden_out, hidden_in;
    Mass mass;
    double loops = 0;
  };

  // Two clusters joined into one. mass: its size. hidden, s: the hidden pairs and the value of links within
  // it.
  struct Joined {
    Mass mass;
    double hidden, s;
  };

  std::size_t at(Index a, Index b) const { return static_cast<std::size_t>(a * room_ + b); }
  Joined joined(Index a, Index b) const;
  void count_ends(int node);
  void add(int node, Index a, double sign);  // adds the node of count_ends() to cluster a; sign −1 removes it
  // By how much J rises if the node of count_ends(), which is in no cluster, joins cluster a. a = k: a new
  // cluster.
  double gain(Index a) const;
  Mass mass_of(int node) const { return degrees_ ? degrees_->of(node) : Mass{1, 0, 0}; }
  // The number N of observed pairs between clusters of sizes a and b, or within one if `same`. hidden: the
  // number of hidden pairs or, with degrees, Σ θ_i θ_j over them (degrees.h).
  double pairs_of(const Mass& a, const Mass& b, bool same, double hidden) const;
  void set(Index a, Index b, double hidden, double s);
  void append(int owner);
  // Moves these nodes between clusters a and b by sweeps. A cluster that is empty at the end is removed.
  void settle(const std::vector<int>& nodes, Index a, Index b);
  void drop_empty(Index a);
  void make_room(Index k);
  double cell(double n, double s) const { return model_->evidence(n, s); }

  const Links* links_;
  const LinkModel* model_;
  const Degrees* degrees_;
  double log_gamma_, gamma_;
  std::vector<int> z_;  // the label of each node; −1 while a change has it in no cluster
  Index k_ = 0, room_ = 0;
  Owners owner_;  // owners of the K clusters; an entry counts only if the cluster has nodes with a label
  std::vector<Index> known_;  // number of nodes with a label in each cluster
  std::vector<Mass> mass_;
  // room × room; in undirected networks symmetric, and pairs within a cluster count once
  Vec hidden_, s_, lambda_;
  Ends ends_;
};

}  // namespace bnpvi::networks
