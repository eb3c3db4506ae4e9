// The HDP relational model of networks: a node has a membership in each of its pairs.
#pragma once
#include "networks/link_model.h"
#include "networks/overlap.h"

namespace bnpvi::networks {

/// Base class of models in which each node has a membership (a community) in each of its pairs: s ~ π_i and r
/// ~ π_j in the pair of nodes i and j, whose value is y ~ f(φ) with the φ of the block of s and r. The
/// memberships have π_i ~ DP(αβ), with stick-breaking proportions β of concentration γ. Derived classes
/// define the blocks [Kim, Gopalan, Blei and Sudderth 2013].
///
/// In q every link has a separate joint q(s, r); all pairs without a link that contain node i share one
/// profile, q(s) = ρ_i (at the other end ρ_j). This restricts a q with separate factors for every pair, so
/// that the bound is exact, and takes time proportional to links and nodes. q(π_i) = Dirichlet(θ̂_i) is
/// optimal for the counts, and the top level uses the loose bound of sticks.h. In a directed network each
/// pair of nodes has two values, with the same memberships at both ends.
///
/// A node's known label restricts its memberships in all its pairs: q(s, r) and ρ are 0 in other communities,
/// and the bound is one of log p(y, s and r in the sets of all nodes). In future pairs memberships are
/// restricted, too: the node's proportions are then those of q(π_i) among the allowed communities.
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

  /// For tests: sets other sticks and keeps everything else in q, except the Dirichlet parameters of the
  /// nodes' proportions, which get their optimum.
  void hold_sticks(const HdpSticks& sticks);

 protected:
  /// start: proportions of nodes in communities, from which the profiles ρ (memberships in pairs without a
  /// link) begin. blocks: model of the parameters of blocks. Constructors of derived classes must end with
  /// begin().
  Relational(const Links& links, const LinkModel& blocks, double gamma, double alpha, const Shares& start);
  void begin();

  // Scratch of a visit of links. a: exp E log π of every node, relative to the node's largest entry (a factor
  // of the node does not change q). p: its logarithm; all: its sum over communities; none, link: the weights
  // of blocks; the others: numbers that derived classes keep for links of the same value.
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

  /// Computes, from the present statistics, the weights of the blocks, with which the expected log
  /// probability of a pair's value y is none + y link (LinkWeights).
  virtual void weigh(Vec& none, Vec& link) const = 0;
  /// Computes the optimal joint q(s, r) of the communities s and r of the two ends of the link from i to j
  /// with value y. Adds its expected ends to node i if to_i, and to node j if to_j; adds its statistic and
  /// entropy, half for each of these ends, to q_n_, q_s_ and link_entropy_.
  virtual void visit_link(LinkWork& work, Index i, Index j, double y, bool to_i, bool to_j) = 0;
  virtual Index n_blocks() const = 0;
  /// Computes the statistics of blocks (pairs of communities) from the profiles ρ, the nodes' memberships in
  /// pairs without a link, from their sum (sum_), and from the statistics of links.
  virtual void update_statistics() = 0;
  /// Computes the statistics of blocks as if links, like pairs without a link, had the profiles ρ of their
  /// ends.
  virtual void expect_from_profiles() = 0;
  /// Writes to gain (K numbers), for each community, the expected gain of the bound by a pair without a link
  /// of node i if the node has this membership; averaged over such pairs.
  virtual void gains(Index i, const Vec& none, double* gain) const = 0;
  /// A step of stochastic learning, after the links of some nodes have been visited: estimates the blocks'
  /// statistics from the pairs of these nodes, and moves the present statistics by `rate` towards the
  /// estimate.
  virtual void move_statistics(const std::vector<int>& nodes, double rate) = 0;
  virtual double evidence() const = 0;  // Σ of Λ over the blocks
  virtual void join_statistics(Index a, Index b) = 0;
  virtual void order_statistics(const std::vector<Index>& order) = 0;  // communities not in it are removed
  virtual std::vector<Array> statistics() const = 0;

  void clear_links();
  void sum_profiles();
  // Adds to `sum` (K numbers) the profiles ρ_j of the partners j in node i's listed pairs, its links and its
  // hidden pairs, in one direction.
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
