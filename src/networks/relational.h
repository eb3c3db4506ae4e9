// The HDP relational model: memberships at both ends of every pair.
#pragma once
#include "networks/link_model.h"
#include "networks/overlap.h"

namespace bnpvi::networks {

/// β by sticks of γ, π_i ~ DP(αβ); each pair has s ~ π_i, r ~ π_j, and y ~ f(φ), φ that of the block of s and
/// r: which blocks there are is left to the classes below this one [Kim, Gopalan, Blei and Sudderth 2013].
///
/// q: every link has its own joint q(s, r); all pairs without a link in which node i is have one profile,
/// q(s) = ρ_i and q(r) = ρ_j. This is a restriction of a q for every pair, so that the bound is exact, and
/// takes time in proportion to links and nodes. q(π_i) = Dirichlet(θ̂_i) is at its optimum for the counts, and
/// the top level uses the loose bound of sticks.h. Directed: a pair each way, with the same memberships at
/// both ends.
///
/// What is known of a node says where it is in all its pairs: q(s, r) and ρ are 0 elsewhere, and the bound is
/// one of log p(y, s and r in the sets of all nodes). In pairs to come a node is where it may be, too: then
/// its proportions are those of q(π_i) among these communities.
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

  /// For tests: the bound at other sticks, all else as it is and θ̂ at its optimum.
  void hold_sticks(const HdpSticks& sticks);

 protected:
  /// start: of ρ. blocks: of φ. The constructors of classes below end with begin().
  Relational(const Links& links, const LinkModel& blocks, double gamma, double alpha, const Shares& start);
  void begin();

  // What a visit of links needs: A = exp E log π relative to the largest of a node, which cancels in q, its
  // logarithm, and its sum over communities; the weights of blocks, and what classes keep for links of one
  // value.
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

  /// Weights of the blocks at the present statistics, into `none` and `link`.
  virtual void weigh(Vec& none, Vec& link) const = 0;
  /// q of a link at its optimum: its ends in node i and j where wanted; its statistic and entropy, half of it
  /// for each of these ends, into q_n_, q_s_ and link_entropy_.
  virtual void visit_link(LinkWork& work, Index i, Index j, double y, bool to_i, bool to_j) = 0;
  virtual Index n_blocks() const = 0;
  /// The statistics from sum_ and ρ, and those of links.
  virtual void update_statistics() = 0;
  /// The same as if links, too, had the profiles of their ends.
  virtual void expect_from_profiles() = 0;
  /// What a pair of node i without a link gains, on average over its pairs, in each community: K numbers.
  virtual void gains(Index i, const Vec& none, double* gain) const = 0;
  /// After visits of the links of some nodes: statistics go `rate` of the way to their estimate from the
  /// pairs of these nodes.
  virtual void move_statistics(const std::vector<int>& nodes, double rate) = 0;
  virtual double evidence() const = 0;  // Σ over blocks of Λ
  virtual void join_statistics(Index a, Index b) = 0;
  virtual void order_statistics(const std::vector<Index>& order) = 0;  // those not in it go
  virtual std::vector<Array> statistics() const = 0;

  void clear_links();
  void sum_profiles();
  // Σ_j ρ_j over pairs of node i that are listed, links or hidden, in one direction; added to K sums.
  void sum_listed(const SparseRows& links, const SparseRows& hidden, Index i, double* sum) const;

  const LinkModel* blocks_;
  double gamma_, alpha_, each_way_;
  Vec zeros_;           // pairs without a link that a node is in, n
  Vec rho_;             // n × K
  Vec theta_, log_pi_;  // n × (K + 1)
  Vec ends_;            // expected link ends, n × K
  Vec sum_;             // Σ_i ρ_ik, K
  Vec q_n_, q_s_;       // of each block Σ_links q (1, y)
  Vec n_, s_;           // their statistics
  double link_entropy_ = 0;

 private:
  void visit_links();
  void prepare(LinkWork& work, Index i) const;
  void visit_node(Index i, const WeightMoments& pi, const Vec& none, Vec& scratch);
  void visit_nodes();
  void choose_profile(Index i, const WeightMoments& pi, const double* gain, Vec& scratch);
  void update_proportions();  // θ̂ and P of all nodes
  void set_proportions(Index i, const WeightMoments& pi);
  void update_sticks();
  void spread_out();  // sizes of all arrays for K communities
};

}  // namespace bnpvi::networks
