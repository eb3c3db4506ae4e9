// A relational model with one block for each community and one block, the background, for all pairs of nodes
// from different communities.
#pragma once
#include "networks/relational.h"

namespace bnpvi::networks {

/// A model in which the value y of a pair depends on the communities s and r of its two nodes: y ~ f(φ_k) if
/// s = r = k, and y ~ f(ε) if s and r differ. ε is the parameter of the background. It has a prior of the
/// same kind as φ_k, and a statistic of its own. An update takes O(K) time for each link, with K communities.
class AssortativeBlocks final : public Relational {
 public:
  /// blocks: model of the parameters φ_k (pairs within a community). background: model of ε (pairs between
  /// communities). start: initial proportions of nodes in communities.
  AssortativeBlocks(const Links& links, const LinkModel& blocks, const LinkModel& background, double gamma,
                    double alpha, const Shares& start);

  std::unique_ptr<Overlap> copy() const override { return std::make_unique<AssortativeBlocks>(*this); }
  std::unique_ptr<Overlap> anew(const Shares& start) const override {
    return std::make_unique<AssortativeBlocks>(*links_, *blocks_, *background_, gamma_, alpha_, start);
  }
  Vec rates() const override;

 private:
  void weigh(Vec& none, Vec& link) const override;
  void visit_link(LinkWork& work, Index i, Index j, double y, bool to_i, bool to_j) override;
  Index n_blocks() const override { return k_ + 1; }  // the background is last
  void update_statistics() override;
  void expect_from_profiles() override;
  void gains(Index i, const Vec& none, double* gain) const override;
  void move_statistics(const std::vector<int>& nodes, double rate) override;
  double evidence() const override;
  void join_statistics(Index a, Index b) override;
  void order_statistics(const std::vector<Index>& order) override;
  std::vector<Array> statistics() const override;
  // writes to `met` (K numbers) Σ_j ρ_j over the nodes j to which node i has no link
  void meet(Index i, double* met) const;

  const LinkModel* background_;
};

}  // namespace bnpvi::networks
