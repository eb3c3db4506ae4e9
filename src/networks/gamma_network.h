// A model of overlapping communities in which nodes have different activities (degree correction).
#pragma once
#include "networks/overlap.h"

namespace bnpvi::networks {

struct GammaPriors {
  double gamma, alpha;                // concentrations of the top level and of nodes' memberships; α ≤ 1
  double a, b;                        // prior of the communities' rates, φ_k ~ Gamma(a, rate b)
  double a_background, b_background;  // prior of the background's rate ε
  bool counts;   // true: values are counts, y_ij = m_ij; false: y_ij = 1 if m_ij > 0, else 0
  double dense;  // if n · K is at most this number, every node has a separate q(t_ik) for every community
};

/// A model of overlapping communities of nodes with different activities. The value of a pair of nodes comes
/// from a Poisson count m_ij:
///   m_ij ~ Poisson(ε T_i T_j + Σ_k φ_k t_ik t_jk),  t_ik ~ Gamma(αβ_k, rate α),  T_i = Σ_k t_ik.
/// β are stick-breaking proportions of concentration γ. The memberships of node i are t_i / T_i ~ DP(αβ). Its
/// activity is T_i ~ Gamma(α, α), independent of the memberships.
///
/// A pair without a link adds −E λ_ij to the bound, where λ_ij is its Poisson rate. λ_ij is a sum of products
/// of a number of node i and a number of node j. So the sum over all n² pairs follows from a few sums over
/// nodes.
///
/// Let l_ij be the rate λ_ij with t and φ replaced by exp E log t and exp E log φ. In q, the count m_ij of a
/// link is a Poisson count above 0, which is divided among the communities and the background in proportion
/// to their parts of l_ij. At the optimal q a link adds log(e^l − 1) to the bound, or y log l − log y! if
/// values are counts. q of everything else is a product of Gamma and Beta distributions.
///
/// Communities after the first K keep their prior under q and are integrated out: the bound is that of the
/// model with infinitely many communities. The prior of t enters through −log Γ(απ_k) ≥ log α + log π_k,
/// which holds for α ≤ 1. In a directed network each pair of nodes has two values, one for each direction;
/// the memberships are the same in both.
///
/// The links of most nodes practically exclude most communities k (exp E log t_ik below 1e-12). All nodes
/// that exclude community k share one q(t_ik), a Gamma distribution. This costs almost nothing, since these
/// nodes differ only in their sums over pairs. Every other node has a separate q(t_ik) for k, a `Part`. So
/// memory and time of a lap are proportional to the numbers of links and parts, not to nK, and a change of
/// one community can be judged from its nodes alone.
///
/// A node with a known label has t_ik = 0 in those of the K communities where it may not be. This is an
/// assumption of the model, not an event with a probability. In such networks every node has a part in each
/// community where it may be, as with dense = Inf.
class GammaNetwork final : public Overlap, public NodeSteps, public LocalMoves {
 public:
  /// start: initial proportions of each node in the communities. A row of zeros is replaced by equal
  /// proportions.
  GammaNetwork(const Links& links, const GammaPriors& priors, const Shares& start);

  std::unique_ptr<Overlap> copy() const override { return std::make_unique<GammaNetwork>(*this); }
  std::unique_ptr<Overlap> anew(const Shares& start) const override {
    return std::make_unique<GammaNetwork>(*links_, priors_, start);
  }
  void lap() override;
  void step(const std::vector<int>& nodes, double rate) override;
  void end_steps() override;
  std::vector<std::pair<std::string, double>> terms() const override;
  Vec proportions(Index i) const override;
  Vec rates() const override;
  std::vector<Ends> ends(Index i) const override;
  std::vector<Array> arrays() const override;
  void split(const std::vector<Division>& divisions, double share) override;
  void merge(Index a, Index b) override;
  void drop(Index k) override;
  void permute(const std::vector<Index>& order) override;
  void write(Writer& out) const override;
  void read(Reader& in) override;

  OverlapCapabilities capabilities() override { return {this, this}; }
  double split_here(const Division& division, double share, double least) override;
  double merge_here(Index a, Index b, double least) override;
  double divide_here(Index a, Index b, const std::vector<int>& leaves, double share, double least) override;
  double drop_here(Index k, double least) override;

  void refresh() override;

 private:
  // The separate q(t_ik) = Gamma(shape, rate) of one node for community k. ends: the node's expected number
  // of link ends in k. mean, log: E t_ik and E log t_ik. tilde: exp E log t_ik, or 0 where the node's links
  // exclude k. term: its term of the bound.
  struct Part {
    int k;
    double ends, shape, rate, mean, log, tilde, term;
  };
  using Row = std::vector<Part>;  // the parts of a node, k ascending

  struct Community {
    // The q(t_ik) shared by all nodes without a Part (a separate q) in this community. mean is 0 if there are
    // no such nodes.
    double shape = 1, rate = 1, mean = 0, log = 0;
    // Sums over the nodes with a Part in this community: of their means, of squared means, of E log t and of
    // terms of the bound. Two more sums use d_j, the mean of node j minus the shared mean: hidden_ends is Σ
    // d_j times the number of hidden pairs of node j; hidden is Σ d_i d_j over hidden pairs.
    double sum = 0, squares = 0, logs = 0, terms = 0, hidden_ends = 0, hidden = 0;
    // q(φ_k), the posterior of the community's rate. counts: the expected counts Σ m_ijk of the links, as of
    // the last visit of the links.
    double phi_shape = 1, phi_rate = 1, phi_log = 0, phi_tilde = 1, counts = 0;
    double phi() const { return phi_shape / phi_rate; }
  };
  // Sums from which expected total activities follow. The total activity of node i is own_i + others, where
  // `others` is Σ_k of the means shared by nodes without a part in k. sum, squares: Σ own_i and Σ own_i².
  // hidden_ends: Σ own_i times the number of hidden pairs of node i. hidden: Σ own_i own_j over hidden pairs.
  struct Totals {
    double sum = 0, squares = 0, hidden_ends = 0, hidden = 0, others = 0;
  };
  // All numbers of q that do not belong to single nodes: those of the communities and the background, and
  // sums over nodes.
  struct Globals {
    std::vector<Community> communities;  // the K communities
    Community background;                // for ε: only q(φ) and the counts are used
    Totals totals;
    double links = 0;  // Σ of the links' terms of the bound, with the optimal q of their counts
  };
  struct Rest {
    // for the sum Σ_{k>K} t_ik of a node: its mean, and E of the product of the sums of two nodes
    double mean, square;
  };

  Index n() const { return links_->n(); }
  Community& community(Index k) { return g_.communities[static_cast<std::size_t>(k)]; }
  const Community& community(Index k) const { return g_.communities[static_cast<std::size_t>(k)]; }
  double in(Index k) const { return static_cast<double>(nodes_[k].size()); }  // nodes with a part in k
  double may_be_in(Index k) const { return links_->labelled() ? in(k) : static_cast<double>(n()); }
  double others(Index k) const { return may_be_in(k) - in(k); }
  double total(Index i) const { return own_[i] + g_.totals.others; }  // T̄_i, mean activity of node i
  double total_of_all() const { return g_.totals.sum + static_cast<double>(n()) * g_.totals.others; }
  double hidden_of(Index i) const;  // number of hidden pairs of node i
  double per_node(Index i) const { return each_way_ * static_cast<double>(n() - 1) - hidden_of(i); }
  template <class F>
  void each_hidden(Index i, F f) const {  // calls f(j) for the hidden pairs of node i
    for (const SparseRows* rows : {&links_->hidden_out(), &links_->hidden_in()})
      for (Index h = rows->start[i]; h < rows->start[i + 1]; ++h) f(static_cast<Index>(rows->other[h]));
  }

  double mean_of(Index k) const { return community(k).sum + others(k) * community(k).mean; }  // Σ_i t̄_ik
  double exposure(Index k) const;  // Σ over observed pairs of t̄_ik t̄_jk
  TopLevel top() const;
  double ends_of_totals() const;  // Σ over observed pairs of T̄_i + T̄_j
  double background_exposure(const Rest& rest) const;
  static Rest rest(const WeightMoments& pi);

  static const Part* part_of(const Row& row, Index k);
  static Part* part_of(Row& row, Index k) { return const_cast<Part*>(part_of(std::as_const(row), k)); }
  static void set(Part& part, double shape, double rate, double c);
  double excess(Index j, Index k) const;  // t̄_jk − the mean shared by nodes without a part in k
  void count(Index i, const Part& part, double sign);  // adds a part to the sums of its community
  double own(Index i) const;                           // own_i, computed from the node's parts
  void set_own(Index i, double own);
  void set_others(Index k, double shape, double mean);
  void find_nodes();           // finds the nodes with a part in each community, from the rows
  void find_sums_of(Index k);  // computes the sums of a community from the nodes' parts and the shared q
  void find_sums();
  void leave_out_of_large();  // drops parts that the node's links exclude, if n · K is large

  // Updates q of the count of the link from i to j, with value y. Adds its expected ends to the parts of node
  // i (if to_i) and of node j (if to_j). Adds `weight` times its expected counts to communities and
  // background. Returns its term of the bound.
  double visit_link(Index i, Index j, double y, bool to_i, bool to_j, double weight);
  // the cost, in multiplications, of visiting the links of a node and then the node
  double products_of(Index i) const;
  void visit_links();
  void visit_node(Index i, const WeightMoments& pi);
  void update_others(Index k, const WeightMoments& pi);
  void update_rate(Index k);
  void update_background(const WeightMoments& pi);
  void update_sticks();
  static void set_rate(Community& community, double shape, double rate);

  // Two changes of the q(t_ik) shared by nodes without a part in a community. halve() divides it evenly
  // between community k and a new one, which also gets a copy of q(φ_k). add_others() adds the shared q of
  // community b to that of a.
  void halve(Index k);
  void add_others(Index a, Index b);
  static void divide(Row& row, Index of, Index to, double share, double little, double c);
  // Divides the part of node i between community division.of and the new community `made`. If the node may be
  // in only one of the two, that one gets the whole part.
  void divide_part(Index i, const Division& division, Index made, double share, double little);
  void leave_out_disallowed(Index k);  // drops parts of nodes that may not be in k
  void join(Row& row, Index a, Index b) const;
  static void remove(Row& row, Index k);
  static void renumber(Row& row, const std::vector<Index>& number);  // removes parts with number −1
  // Keeps the communities of `order`, in this order, and removes the others. weights: expected proportions of
  // the K communities and, last, of all further ones.
  void keep(const std::vector<Index>& order, const Vec& weights);

  // What a local change (LocalMoves) may alter, as it was before the change, so that the change can be
  // undone.
  struct Undo {
    Globals globals;
    HdpSticks sticks;
    std::vector<std::pair<Index, std::vector<int>>> nodes_of;
    std::vector<int> nodes;
    std::vector<Row> rows;
    Vec own, tilde;
    Index k = 0;
    Owners owner;
    double bound = 0;
    bool stale = false;
  };
  Undo remember(std::vector<Index> communities) const;
  // Returns by how much a change has raised the bound. If that is not above `least`, undoes the change.
  double gained(const Undo& undo, double least);
  double visit_links_of(const std::vector<int>& nodes);
  // Makes some rounds of updates of q of these nodes, of q of their links, and of the rates of the
  // communities `open`. These communities must have no other nodes.
  void settle(const std::vector<int>& nodes, const std::vector<Index>& open, Index laps);
  void make_last(Index k);  // exchanges the numbers of community k and the last one
  // Removes the last community. weights: expected proportions of the K communities and, last, of all further
  // ones. The entry of the removed community is dropped: its proportion must already have been added to
  // another.
  void without_last(const Vec& weights);
  void find_sums_among(const std::vector<int>& nodes, const std::vector<Index>& communities);

  GammaPriors priors_;
  double each_way_;  // number of values of a pair of nodes: 1, or 2 in directed networks
  std::vector<Row> rows_;
  std::vector<std::vector<int>> nodes_;  // nodes with a part in community k, ascending
  Vec own_;
  Globals g_;
  Vec tilde_;                // Σ_k exp E log t_ik for each node
  bool stale_ = false;       // true when ends and counts belong to an earlier q
  std::vector<char> among_;  // scratch: n zeros between uses
};

}  // namespace bnpvi::networks
