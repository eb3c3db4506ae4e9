// The relational HDP model of networks: in each pair of nodes, both nodes have a membership.
#pragma once
#include "networks/link_model.h"
#include "networks/overlap.h"

namespace bnpvi::networks {

/// Base class of models in which each node has a membership (a community) in each of its pairs. In the pair
/// of nodes i and j the memberships are s ~ π_i and r ~ π_j, and the value is y ~ f(φ), where φ is the
/// parameter of the block of s and r. The proportions of a node are π_i ~ DP(αβ), with stick-breaking
/// proportions β of concentration γ. Derived classes define the blocks [Kim, Gopalan, Blei and Sudderth
/// 2013].
///
/// In q every link has a separate joint distribution q(s, r). All pairs without a link that contain node i
/// share one distribution of its membership, the profile ρ_i. This restricts a q with separate factors for
/// every pair, so the bound is valid, and it takes time proportional to links and nodes. q(π_i) =
/// Dirichlet(θ̂_i) is optimal for the counts. The top level uses the loose bound of sticks.h. In a directed
/// network each pair of nodes has two values, one for each direction.
///
/// A known label of a node restricts its memberships in all its pairs: q(s, r) and ρ are 0 in other
/// communities. The bound is then one of log p(y, s and r in the allowed communities of all nodes).
/// Memberships in future pairs are restricted, too: proportions of the node are those of q(π_i) among its
/// allowed communities.
class Relational : public Overlap, public NodeSteps {
 public:
  OverlapCapabilities capabilities() override { return {this, nullptr}; }
  void lap() override;
  void step(const std::vector<int>& nodes, double rate) override;
  void end_steps() override { update_proportions(); }
  std::vector<std::pair<std::string, double>> terms() const override;
  Vec proportions(Index i) const override;
  std::vector<Ends> ends(Index i) const override;
  std::vector<Array> arrays() const override;
  void split(const std::vector<Division>& divisions, double share) override;
  void merge(Index a, Index b) override;
  void drop(Index k) override;
  void permute(const std::vector<Index>& order) override;
  void write(Writer& out) const override;
  void read(Reader& in) override;
  void refresh() override;

  /// For tests: sets other sticks. The rest of q stays, except the Dirichlet parameters of the nodes'
  /// proportions, which get their optimum.
  void hold_sticks(const HdpSticks& sticks);

 protected:
  /// start: proportions of nodes in communities; the profiles ρ begin there. blocks: model of the blocks'
  /// parameters. Constructors of derived classes must call begin() at their end.
  Relational(const Links& links, const LinkModel& blocks, double gamma, double alpha, const Shares& start);
  void begin();

  // Scratch for visits of links. a: exp E log π of every node, divided by the largest entry of the node
  // (which does not change q). p: log a. all: Σ of a over communities. none, link: the weights of the blocks.
  // The others are numbers that derived classes reuse for links of the same value.
  struct LinkWork {
    Vec a, p, all;
    Vec none, link;  // weights of the blocks
    Vec l, f, both;
    double l_most = 0, known = -1;
  };
  void put_ends(Index i, Index k, double value, bool wanted) {
    if (wanted) ends_[i * k_ + k] += value;
  }
  static double part(bool to_i, bool to_j) { return (to_i + to_j) / 2.0; }

  /// Computes the weights of the blocks from the present statistics. In a block the expected log probability
  /// of value y is none + y link (LinkWeights).
  virtual void weigh(Vec& none, Vec& link) const = 0;
  /// Computes the optimal joint distribution q(s, r) for the link from i to j with value y. Adds its expected
  /// ends to node i (if to_i) and to node j (if to_j). For each of these two that holds, adds half of its
  /// statistic and entropy to q_n_, q_s_ and link_entropy_.
  virtual void visit_link(LinkWork& work, Index i, Index j, double y, bool to_i, bool to_j) = 0;
  virtual Index n_blocks() const = 0;
  /// Computes the statistics of the blocks from the profiles ρ of the nodes, their sum (sum_), and the
  /// statistics of the links.
  virtual void update_statistics() = 0;
  /// Computes the statistics of the blocks as if in links, too, the memberships of the two nodes had their
  /// profiles ρ.
  virtual void expect_from_profiles() = 0;
  /// Expected gains of the bound by one pair of node i without a link, averaged over these pairs. gain:
  /// receives for each community (K numbers) the gain if the node is a member of it in that pair.
  virtual void gains(Index i, const Vec& none, double* gain) const = 0;
  /// Moves the statistics of the blocks by `rate` towards an estimate from the pairs of these nodes
  /// (stochastic learning). The links of the nodes must have been visited before.
  virtual void move_statistics(const std::vector<int>& nodes, double rate) = 0;
  virtual double evidence() const = 0;  // Σ of Λ over the blocks
  virtual void join_statistics(Index a, Index b) = 0;
  // communities that are not in `order` are removed
  virtual void order_statistics(const std::vector<Index>& order) = 0;
  virtual std::vector<Array> statistics() const = 0;

  void clear_links();
  void sum_profiles();
  // Adds to `sum` (K numbers) the profiles ρ_j of the nodes j in the links and hidden pairs of node i, in one
  // direction.
  void sum_listed(const SparseRows& links, const SparseRows& hidden, Index i, double* sum) const;

  const LinkModel* blocks_;
  double gamma_, alpha_, each_way_;
  Vec zeros_;           // number of pairs without a link of each node, n numbers
  Vec rho_;             // profiles ρ of the nodes, n × K
  Vec theta_, log_pi_;  // θ̂ and E log π of the nodes, n × (K + 1)
  Vec ends_;            // expected link ends of the nodes, n × K
  Vec sum_;             // sum of the profiles, Σ_i ρ_ik, K numbers
  Vec q_n_, q_s_;       // for each block Σ_links q and Σ_links q y
  Vec n_, s_;           // numbers of pairs and sums of values in the blocks
  double link_entropy_ = 0;

 private:
  void visit_links();
  void prepare(LinkWork& work, Index i) const;
  void visit_node(Index i, const WeightMoments& pi, const Vec& none, Vec& scratch);
  void visit_nodes();
  void choose_profile(Index i, const WeightMoments& pi, const double* gain, Vec& scratch);
  void update_proportions();  // updates θ̂ and E log π of all nodes
  void set_proportions(Index i, const WeightMoments& pi);
  void update_sticks();
  void spread_out();  // resizes all arrays for K communities
};

}  // namespace bnpvi::networks
