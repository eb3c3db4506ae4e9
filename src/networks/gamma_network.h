// Overlapping communities whose nodes have degrees of their own.
#pragma once
#include "networks/overlap.h"

namespace bnpvi::networks {

struct GammaPriors {
  double gamma, alpha;                // of the top level, and of nodes, α ≤ 1
  double a, b;                        // φ_k ~ Gamma(a, rate b)
  double a_background, b_background;  // ε
  bool counts;                        // y_ij = m_ij; otherwise y_ij = 1(m_ij > 0)
  double dense;                       // n · K up to which every node has a part in every community
};

/// m_ij ~ Poisson(ε T_i T_j + Σ_k φ_k t_ik t_jk), t_ik ~ Gamma(αβ_k, rate α), T_i = Σ_k t_ik, β by sticks of
/// γ: then t_i / T_i ~ DP(αβ) are the memberships of node i, and T_i ~ Gamma(α, α), independent of them, its
/// activity. A pair without a link costs −E λ_ij, which is a sum over communities of products: all n² of them
/// take a few sums over nodes.
///
/// With l_ij the rate at the geometric means (tilde), m_ij of a link is a Poisson count that is not 0, and is
/// shared among communities and background in proportion to their parts of l: at this optimum a link has
/// log(e^l − 1), of counts y log l − log y!. q of everything else is a product of Gamma and Beta
/// distributions. Communities beyond K keep their prior under q and are integrated: the bound is one of the
/// model with infinitely many. The prior of t enters through −log Γ(απ_k) ≥ log α + log π_k, which α ≤ 1
/// allows. Directed: a pair each way, with the same memberships at both ends.
///
/// q(t_ik) of nodes whose links take no notice of community k (exp E log t below 1e-12) is one Gamma
/// distribution for all of them, a restriction of the family that costs next to nothing as they differ by
/// what they meet alone. Only the others have parts of their own, so that memory and laps are in proportion
/// to links and parts, not to nK, and a change of one community can be judged by its nodes alone.
///
/// Of a node with a label t_ik is 0 in the communities of K that it may not be in: that is part of the model,
/// and not an event. Then all nodes have parts of their own in all other communities (dense: Inf).
class GammaNetwork final : public Overlap, public NodeSteps, public LocalMoves {
 public:
  /// start: of the shares of the nodes; a row of zeros is spread evenly.
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
  // q(t_ik) = Gamma(shape, rate), its mean, E log and exp E log (0 where links take no notice), its term of
  // the bound, and the expected link ends.
  struct Part {
    int k;
    double ends, shape, rate, mean, log, tilde, term;
  };
  using Row = std::vector<Part>;  // of a node, k ascending

  struct Community {
    // q of the nodes without a part; mean 0 where there are none.
    double shape = 1, rate = 1, mean = 0, log = 0;
    // Sums over its nodes: of means, squares, E log and terms; of (mean − the others' mean) times hidden
    // pairs of a node, and of its product over hidden pairs.
    double sum = 0, squares = 0, logs = 0, terms = 0, hidden_ends = 0, hidden = 0;
    // q(φ), and Σ m_ijk of the last visit of the links.
    double phi_shape = 1, phi_rate = 1, phi_log = 0, phi_tilde = 1, counts = 0;
    double phi() const { return phi_shape / phi_rate; }
  };
  // T_i = own_i + others, the sum of all communities' others' means; over nodes sums of own_i, its square,
  // its product with the hidden pairs of a node, and over hidden pairs of own_i own_j.
  struct Totals {
    double sum = 0, squares = 0, hidden_ends = 0, hidden = 0, others = 0;
  };
  // All that is not of single nodes.
  struct Globals {
    std::vector<Community> communities;  // K
    Community background;                // q(ε) alone
    Totals totals;
    double links = 0;  // Σ over links, at the optimum of q of their counts
  };
  struct Rest {
    double mean, square;  // of Σ_{k>K} t_ik: its mean, and the mean of a product of two nodes'
  };

  Index n() const { return links_->n(); }
  Community& community(Index k) { return g_.communities[static_cast<std::size_t>(k)]; }
  const Community& community(Index k) const { return g_.communities[static_cast<std::size_t>(k)]; }
  double in(Index k) const { return static_cast<double>(nodes_[k].size()); }  // nodes with a part in k
  double may_be_in(Index k) const { return links_->labelled() ? in(k) : static_cast<double>(n()); }
  double others(Index k) const { return may_be_in(k) - in(k); }
  double total(Index i) const { return own_[i] + g_.totals.others; }  // T̄_i
  double total_of_all() const { return g_.totals.sum + static_cast<double>(n()) * g_.totals.others; }
  double hidden_of(Index i) const;  // hidden pairs that node i is in
  double per_node(Index i) const { return each_way_ * static_cast<double>(n() - 1) - hidden_of(i); }
  template <class F>
  void each_hidden(Index i, F f) const {  // f(j) for the hidden pairs of node i
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
  double excess(Index j, Index k) const;               // t̄_jk − the others' mean
  void count(Index i, const Part& part, double sign);  // into the sums of its community
  double own(Index i) const;                           // from the row
  void set_own(Index i, double own);
  void set_others(Index k, double shape, double mean);
  void find_nodes();           // of all communities, from the rows
  void find_sums_of(Index k);  // from rows, nodes and others
  void find_sums();
  void leave_out_of_large();  // parts of which links take no notice, where n · K is large

  // Ends where wanted, counts times `weight`; returns the link's term of the bound.
  double visit_link(Index i, Index j, double y, bool to_i, bool to_j, double weight);
  double products_of(Index i) const;  // work of a visit of its links, and of the node itself after that
  void visit_links();
  void visit_node(Index i, const WeightMoments& pi);
  void update_others(Index k, const WeightMoments& pi);
  void update_rate(Index k);
  void update_background(const WeightMoments& pi);
  void update_sticks();
  static void set_rate(Community& community, double shape, double rate);

  // A community's q divided between itself and a new one, or two joined: of the others, and of rates.
  void halve(Index k);
  void add_others(Index a, Index b);
  static void divide(Row& row, Index of, Index to, double share, double little, double c);
  // The same of a node in a division that makes a community; where it may be in one part, all goes there.
  void divide_part(Index i, const Division& division, Index made, double share, double little);
  void leave_out_disallowed(Index k);  // of its nodes, after that
  void join(Row& row, Index a, Index b) const;
  static void remove(Row& row, Index k);
  static void renumber(Row& row, const std::vector<Index>& number);  // −1: goes
  // Communities in another order, some of them left out, with their weights (K + 1, the rest last).
  void keep(const std::vector<Index>& order, const Vec& weights);

  // Local changes.
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
  double gained(const Undo& undo, double least);  // restores what was where that is not more than `least`
  double visit_links_of(const std::vector<int>& nodes);
  // Laps over nodes, their links, and the rates of `open` communities, which have no other nodes.
  void settle(const std::vector<int>& nodes, const std::vector<Index>& open, Index laps);
  void make_last(Index k);                // exchanges numbers with the last community
  void without_last(const Vec& weights);  // K + 1 of them, that of the last is left out
  void find_sums_among(const std::vector<int>& nodes, const std::vector<Index>& communities);

  GammaPriors priors_;
  double each_way_;  // 1, directed 2: times that a pair of nodes counts
  std::vector<Row> rows_;
  std::vector<std::vector<int>> nodes_;  // with a part in k, ascending
  Vec own_;
  Globals g_;
  Vec tilde_;                // Σ_k exp E log t_ik
  bool stale_ = false;       // ends and counts are not those of the present q
  std::vector<char> among_;  // n zeros between uses
};

}  // namespace bnpvi::networks
