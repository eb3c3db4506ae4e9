// The relational model in which every pair of communities has a block of its own.
#pragma once
#include "networks/relational.h"

namespace bnpvi::networks {

/// A model in which the value y of a pair depends on the communities s and r of its ends: y ~ f(φ_sr), in an
/// undirected network φ_sr = φ_rs. The density of links between any two communities, or within one, is free,
/// and may be low as well as high. An update takes O(K²) time for each link and node, so that the model is
/// for few communities. Tables are K × K; those of undirected networks are symmetric, with each block's
/// statistic in both places. With R = Σ_i ρ_i, the sum of the nodes' profiles (Relational), the expected
/// numbers of pairs are
///   N_kl = R_k R_l − Σ_i ρ_ik ρ_il − Σ_{links, hidden pairs (i, j)} ρ_ik ρ_jl + Σ_links q(k, l).
/// In undirected networks q(k, l) + q(l, k) takes the place of q(k, l), and the pairs without a link count
/// half on the diagonal.
class GeneralBlocks final : public Relational {
 public:
  GeneralBlocks(const Links& links, const LinkModel& blocks, double gamma, double alpha, const Shares& start);

  std::unique_ptr<Overlap> copy() const override { return std::make_unique<GeneralBlocks>(*this); }
  std::unique_ptr<Overlap> anew(const Shares& start) const override {
    return std::make_unique<GeneralBlocks>(*links_, *blocks_, gamma_, alpha_, start);
  }
  /// The expected rates within each community and, last, the rate of all pairs between different communities
  /// together.
  Vec rates() const override;

 private:
  void weigh(Vec& none, Vec& link) const override;
  void visit_link(LinkWork& work, Index i, Index j, double y, bool to_i, bool to_j) override;
  Index n_blocks() const override { return k_ * k_; }  // q_n_ and q_s_ distinguish the order of a link's ends
  void update_statistics() override;
  void expect_from_profiles() override;
  void gains(Index i, const Vec& none, double* gain) const override;
  void move_statistics(const std::vector<int>& nodes, double rate) override;
  double evidence() const override;
  void join_statistics(Index a, Index b) override;
  void order_statistics(const std::vector<Index>& order) override;
  std::vector<Array> statistics() const override;
  // Sums the profiles ρ_j (memberships in pairs without a link) of the partners j of node i over its pairs
  // without a link: in `out` for pairs that leave the node, in `in` for those that arrive; undirected
  // networks use `out` alone.
  void meet(Index i, double* out, double* in) const;
  double both_orders(const Vec& t, Index a, Index b) const;  // t_ab; undirected, if a ≠ b: t_ab + t_ba
};

}  // namespace bnpvi::networks
