// A relational model with a block for every pair of communities.
#pragma once
#include "networks/relational.h"

namespace bnpvi::networks {

/// A model in which the value y of a pair depends on the communities s and r of its two nodes: y ~ f(φ_sr).
/// In an undirected network φ_sr = φ_rs. The density of links within or between communities may be high or
/// low. An update takes O(K²) time for each link and node, so the model is for few communities.
///
/// Tables are K × K. Undirected ones are symmetric, with the statistic of a block in both places. Let ρ_i be
/// the profile of node i (Relational) and R = Σ_i ρ_i. The expected number of pairs in block kl is
///   N_kl = R_k R_l − Σ_i ρ_ik ρ_il − Σ_{links, hidden pairs (i, j)} ρ_ik ρ_jl + Σ_links q(k, l).
/// In undirected networks q(k, l) + q(l, k) takes the place of q(k, l), and pairs without a link count half
/// on the diagonal.
class GeneralBlocks final : public Relational {
 public:
  GeneralBlocks(const Links& links, const LinkModel& blocks, double gamma, double alpha, const Shares& start);

  std::unique_ptr<Overlap> copy() const override { return std::make_unique<GeneralBlocks>(*this); }
  std::unique_ptr<Overlap> anew(const Shares& start) const override {
    return std::make_unique<GeneralBlocks>(*links_, *blocks_, gamma_, alpha_, start);
  }
  /// The expected rate within each community and, last, the rate of all pairs between different communities.
  Vec rates() const override;

 private:
  void weigh(Vec& none, Vec& link) const override;
  void visit_link(LinkWork& work, Index i, Index j, double y, bool to_i, bool to_j) override;
  Index n_blocks() const override { return k_ * k_; }  // in q_n_ and q_s_ the order of a link's ends matters
  void update_statistics() override;
  void expect_from_profiles() override;
  void gains(Index i, const Vec& none, double* gain) const override;
  void move_statistics(const std::vector<int>& nodes, double rate) override;
  double evidence() const override;
  void join_statistics(Index a, Index b) override;
  void order_statistics(const std::vector<Index>& order) override;
  std::vector<Array> statistics() const override;
  // Adds up the profiles ρ_j of the nodes j to which node i has no link. out: over pairs from i to j; in:
  // over pairs from j to i. In undirected networks only `out` is used.
  void meet(Index i, double* out, double* in) const;
  // t_ab; in undirected networks t_ab + t_ba if a ≠ b
  double both_orders(const Vec& t, Index a, Index b) const;
};

}  // namespace bnpvi::networks
