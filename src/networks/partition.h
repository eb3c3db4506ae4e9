// A partition of the nodes, its table of blocks, and its log joint with the data.
#pragma once
#include "foundation/random.h"
#include "networks/degrees.h"
#include "networks/link_model.h"
#include "networks/links.h"
#include "networks/owners.h"

namespace bnpvi::networks {

/// Hard labels z of a stochastic blockmodel whose partition has the Chinese restaurant prior of concentration
/// γ [Kemp and others 2006]. With n_k nodes in cluster k and (N_kl, S_kl) the pairs and values of a block
///   J(z) = log p(y, z) = Σ_blocks Λ(N_kl, S_kl) + Σ log h(y) + K log γ + Σ_k log Γ(n_k) + log Γ(γ) − log Γ(γ
///   + n).
/// Undirected: blocks k ≤ l; directed: all K². The order of clusters carries no meaning. The empty network of
/// no nodes has K = 0. With degrees, p(y, z) is that of degrees.h, or its bound where pairs are hidden.
///
/// All changes are exact, and cost what a node's row of the table does: O(degree + K) for a node that leaves
/// or joins, O(degree + K²) for the best of all clusters. Links to what a node has none with count as well:
/// clusters of nodes that avoid each other can only be found so.
///
/// A cluster of nodes with a label is their class's, one without is open, so that a node with a label may
/// join those that allow it or are open (owners.h). J bounds log p(y, z keeps classes apart) where it does
/// log p(y, z).
class Partition {
 public:
  /// labels: from 0, n of them, with K the largest + 1; none of the K may be empty. The network, the model
  /// and degrees (null: none; else the model is of counts, undirected) must outlive it. owner: none, all
  /// clusters are open.
  Partition(const Links& links, const LinkModel& model, double gamma, std::vector<int> labels,
            const Degrees* degrees = nullptr, Owners owner = {});

  /// The same network, model and prior with other labels.
  Partition with_labels(std::vector<int> labels, Owners owner = {}) const {
    return Partition(*links_, *model_, gamma_, std::move(labels), degrees_, std::move(owner));
  }
  /// All made anew from the labels.
  Partition anew() const { return with_labels(z_, owners()); }

  const Links& links() const { return *links_; }
  const std::vector<int>& labels() const { return z_; }
  int owner(Index a) const { return known_[a] > 0 ? owner_[a] : 0; }
  Owners owners() const;
  Index k() const { return k_; }
  double size(Index a) const { return mass_[a].nodes; }
  double pairs(Index a, Index b) const {  // N_ab
    return pairs_of(mass_[a], mass_[b], a == b, hidden_[at(a, b)]);
  }
  double sum(Index a, Index b) const { return s_[at(a, b)]; }  // S_ab
  double log_joint() const;
  double evidence() const;          // Σ_blocks Λ
  double degrees_evidence() const;  // what degrees add to log p(y | z), clusters and nodes; 0 without

  /// Visits nodes one after the other and moves each to its best cluster, a new one among them. Returns how
  /// many moved. `among`: the clusters that may be chosen, and no new one; empty: all.
  Index sweep(const std::vector<int>& nodes, const std::vector<int>& among = {});

  /// J after joining a and b, minus J now: O(K).
  double merge_gain(Index a, Index b) const;
  bool can_merge(Index a, Index b) const { return can_join(owner(a), owner(b)); }
  /// Joins a and b, which can_merge() allows; the last cluster takes the number that becomes free.
  void merge(Index a, Index b);
  /// Joins pairs, the best first, as long as that raises J. Returns how many.
  Index merge_all();

  /// Divides the nodes into clusters a and b anew, both of which have nodes now or will: two seeds at random,
  /// the others in random order to the one that gains more, then sweeps between the two. Returns the change
  /// of J. b = k() appends a cluster; else both have one owner.
  double divide(Index a, Index b, Stream& stream);
  /// Cluster a in two, first so that these nodes leave it; then sweeps between the two. The change of J.
  double divide(Index a, const std::vector<int>& leaves);
  bool has_degrees() const { return degrees_ != nullptr; }

  std::vector<int> members(Index a) const;
  std::vector<int> members(Index a, Index b) const;

 private:
  // What a node has with each cluster: values of its links out and in, hidden pairs out and in, K each; and
  // what it is itself.
  struct Ends {
    Vec out, in, hidden_out, hidden_in;
    Mass mass;
    double loops = 0;
  };

  // Two clusters as one, and its block with itself.
  struct Joined {
    Mass mass;
    double hidden, s;
  };

  std::size_t at(Index a, Index b) const { return static_cast<std::size_t>(a * room_ + b); }
  Joined joined(Index a, Index b) const;
  void count_ends(int node);
  void add(int node, Index a, double sign);  // sign −1: takes it out; the ends must have been counted
  double gain(Index a) const;                // of adding the counted node, which is in no cluster, to a ≤ k
  Mass mass_of(int node) const { return degrees_ ? degrees_->of(node) : Mass{1, 0, 0}; }
  // N of a block of which these pairs are hidden, with degrees each θ_i θ_j of it.
  double pairs_of(const Mass& a, const Mass& b, bool same, double hidden) const;
  void set(Index a, Index b, double hidden, double s);
  void append(int owner);
  // Sweeps between two clusters that have these nodes; one that is empty in the end goes.
  void settle(const std::vector<int>& nodes, Index a, Index b);
  void drop_empty(Index a);
  void make_room(Index k);
  double cell(double n, double s) const { return model_->evidence(n, s); }

  const Links* links_;
  const LinkModel* model_;
  const Degrees* degrees_;
  double log_gamma_, gamma_;
  std::vector<int> z_;  // −1: in no cluster, within a change
  Index k_ = 0, room_ = 0;
  Owners owner_;              // K, of those that have nodes with a label
  std::vector<Index> known_;  // K, nodes with a label
  std::vector<Mass> mass_;
  Vec hidden_, s_, lambda_;  // room × room; undirected: symmetric, pairs within a cluster once
  Ends ends_;
};

}  // namespace bnpvi::networks
