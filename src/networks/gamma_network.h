// Overlapping communities of nodes with different activities (degree-corrected model).
#pragma once
#include "networks/overlap.h"

namespace bnpvi::networks {

struct GammaPriors {
  double gamma, alpha;                // concentrations of the top level and of nodes' memberships; α ≤ 1
  double a, b;                        // prior of the communities' rates, φ_k ~ Gamma(a, rate b)
  double a_background, b_background;  // prior of the background's rate ε
  bool counts;                        // are values counts, y_ij = m_ij? Otherwise y_ij = 1(m_ij > 0)
  double dense;                       // n · K up to which every node has its own q in every community
};

/// A model of overlapping communities of nodes with different activities. The value of a pair of nodes comes
/// from m_ij ~ Poisson(ε T_i T_j + Σ_k φ_k t_ik t_jk), t_ik ~ Gamma(αβ_k, rate α), T_i = Σ_k t_ik, with
/// stick-breaking proportions β of concentration γ. Then t_i / T_i ~ DP(αβ) are the memberships of node i,
/// and T_i ~ Gamma(α, α), independent of these, is its activity. A pair without a link contributes −E λ_ij to
/// the bound, with λ_ij the Poisson rate: a sum over communities of products, so that all n² pairs together
/// take a few sums over nodes.
///
/// With l_ij the rate at the geometric means exp E log t and exp E log φ, m_ij of a link is a Poisson count
/// above 0, divided among communities and background in proportion to their parts of l_ij. At this optimum a
/// link contributes log(e^l − 1), or y log l − log y! with counts. q of everything else is a product of Gamma
/// and Beta distributions. Communities after the first K keep their prior under q and are integrated out: the
/// bound is that of the model with infinitely many communities. The prior of t enters through −log Γ(απ_k) ≥
/// log α + log π_k, which holds for α ≤ 1. In a directed network each pair of nodes has two values, with the
/// same memberships at both ends.
///
/// Nodes whose links practically exclude community k (exp E log t below 1e-12) share a single q(t_ik), a
/// Gamma distribution. This restricts q at almost no cost, since these nodes differ only in the sums over
/// their pairs. Every other node has a separate q(t_ik), a `Part`. Memory and time of laps are therefore
/// proportional to links and parts, not to nK, and a change of one community can be judged by its nodes
/// alone.
///
/// A node with a known label has t_ik = 0 in those of the K communities that it may not be in; this is an
/// assumption of the model, not an event with a probability. All nodes then have parts in all other
/// communities (dense: Inf).
class GammaNetwork final : public Overlap, public NodeSteps, public LocalMoves {
 public:
  /// start: initial proportions of each node in the communities; a row of zeros is replaced by even
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
  // The separate q(t_ik) = Gamma(shape, rate) of one node for community k, t_ik being its activity there: its
  // mean, E log, exp E log (0 where the node's links exclude the community), its term of the bound, and the
  // node's expected number of link ends in the community.
  struct Part {
    int k;
    double ends, shape, rate, mean, log, tilde, term;
  };
  using Row = std::vector<Part>;  // the parts of a node, k ascending

  struct Community {
    // The q(t_ik) that all nodes without a separate one (a Part) in this community share; mean 0 if there are
    // no such nodes.
    double shape = 1, rate = 1, mean = 0, log = 0;
    // Sums over the nodes with a separate q(t_ik) (a Part) in this community: of means, squares, E log and
    // terms of the bound. With d_j the mean of node j minus the mean of nodes without a part: the sum of d_j
    // times the node's number of hidden pairs, and the sum of d_i d_j over hidden pairs.
    double sum = 0, squares = 0, logs = 0, terms = 0, hidden_ends = 0, hidden = 0;
    // The posterior q(φ_k) of the community's rate, and the expected counts of links Σ m_ijk as of the last
    // visit of the links.
    double phi_shape = 1, phi_rate = 1, phi_log = 0, phi_tilde = 1, counts = 0;
    double phi() const { return phi_shape / phi_rate; }
  };
  // Sums that give the total activity T_i = own_i + others of nodes, where `others` = Σ_k (mean of nodes
  // without a part in k). Over nodes: the sums of own_i, of its square, and of its product with the node's
  // number of hidden pairs; over hidden pairs: the sum of own_i own_j.
  struct Totals {
    double sum = 0, squares = 0, hidden_ends = 0, hidden = 0, others = 0;
  };
  // All numbers of q that do not belong to single nodes: those of communities and background, and sums over
  // nodes.
  struct Globals {
    std::vector<Community> communities;  // the K communities
    Community background;                // for ε: only q(φ) and the counts are used
    Totals totals;
    double links = 0;  // Σ of the links' terms of the bound, at the optimal q of their counts
  };
  struct Rest {
    double mean, square;  // for Σ_{k>K} t_ik: its mean, and E of the product of two nodes' sums
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
  double excess(Index j, Index k) const;               // t̄_jk − the mean of nodes without a part in k
  void count(Index i, const Part& part, double sign);  // adds a part to the sums of its community
  double own(Index i) const;                           // own_i, computed from the node's parts
  void set_own(Index i, double own);
  void set_others(Index k, double shape, double mean);
  void find_nodes();           // finds the nodes with a part in each community, from the rows
  void find_sums_of(Index k);  // computes them from rows, nodes and q of nodes without a part
  void find_sums();
  void leave_out_of_large();  // drops parts that the nodes' links exclude, where n · K is large

  // Updates q of a link's count: adds its expected ends to nodes i (to_i) and j (to_j), and `weight` times
  // its expected counts to communities and background. Returns its term of the bound.
  double visit_link(Index i, Index j, double y, bool to_i, bool to_j, double weight);
  double products_of(Index i) const;  // work of visiting the links of a node and then the node itself
  void visit_links();
  void visit_node(Index i, const WeightMoments& pi);
  void update_others(Index k, const WeightMoments& pi);
  void update_rate(Index k);
  void update_background(const WeightMoments& pi);
  void update_sticks();
  static void set_rate(Community& community, double shape, double rate);

  // Two steps that change q of the nodes without a part in a community. halve() divides it evenly between
  // community k and a new one, which also gets a copy of q(φ_k); add_others() adds that of community b to
  // that of a.
  void halve(Index k);
  void add_others(Index a, Index b);
  static void divide(Row& row, Index of, Index to, double share, double little, double c);
  // Divides a node's part (separate q(t_ik)) when its community is divided and `made` is the new one; if the
  // node may be in only one of the two, that one gets the whole part.
  void divide_part(Index i, const Division& division, Index made, double share, double little);
  void leave_out_disallowed(Index k);  // drops parts of nodes that may not be in k
  void join(Row& row, Index a, Index b) const;
  static void remove(Row& row, Index k);
  static void renumber(Row& row, const std::vector<Index>& number);  // removes parts with number −1
  // Reorders communities and removes those that are not in `order`. weights: expected proportions of the K
  // communities, then that of all further ones.
  void keep(const std::vector<Index>& order, const Vec& weights);

  // All that a change of some nodes only (LocalMoves) may alter, as it was before the change, so that it can
  // be undone.
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
  // The gain of the bound by a change; if it is not above `least`, takes the change back.
  double gained(const Undo& undo, double least);
  double visit_links_of(const std::vector<int>& nodes);
  // Makes some rounds of updates of q of these nodes alone, q of their links, and the rates of the
  // communities `open`, which must have no other nodes.
  void settle(const std::vector<int>& nodes, const std::vector<Index>& open, Index laps);
  void make_last(Index k);  // swaps numbers with the last community
  // Removes the last community. weights: expected proportions of the K communities and, last, of all further
  // ones, where the proportion of the removed community was already added to another; its own entry is
  // dropped.
  void without_last(const Vec& weights);
  void find_sums_among(const std::vector<int>& nodes, const std::vector<Index>& communities);

  GammaPriors priors_;
  double each_way_;  // number of values of a pair of nodes: 1; directed: 2
  std::vector<Row> rows_;
  std::vector<std::vector<int>> nodes_;  // nodes with a part in community k, ascending
  Vec own_;
  Globals g_;
  Vec tilde_;                // Σ_k exp E log t_ik for each node
  bool stale_ = false;       // do ends and counts belong to an earlier q?
  std::vector<char> among_;  // scratch: n zeros between uses
};

}  // namespace bnpvi::networks
