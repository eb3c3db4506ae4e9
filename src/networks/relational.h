// The HDP relational model: memberships at both ends of every pair, assortative blocks.
#pragma once
#include "networks/link_model.h"
#include "networks/overlap.h"

namespace bnpvi::networks {

/// β by sticks of γ, π_i ~ DP(αβ); each pair has s ~ π_i, r ~ π_j, and y ~ f(φ_k) if s = r = k, else f(ε)
/// [Kim, Gopalan, Blei and Sudderth 2013]. Here ε has a prior like φ_k, and so a statistic of its own.
///
/// q: every link has its own joint q(s, r); all pairs without a link in which node i is have one profile,
/// q(s) = ρ_i and q(r) = ρ_j. This is a restriction of a q for every pair, so that the bound is exact, and
/// takes O(links · K + nK). q(π_i) = Dirichlet(θ̂_i) is at its optimum for the counts, and the top level uses
/// the loose bound of sticks.h. Directed: a pair each way, with the same memberships at both ends.
class Relational final : public Overlap {
 public:
  /// weight: n × k, row-major, ≥ 0: where ρ begins. blocks: of φ_k; background: of ε.
  Relational(const Links& links, const LinkModel& blocks, const LinkModel& background, double gamma,
             double alpha, Index k, const Vec& weight);

  std::unique_ptr<Overlap> copy() const override { return std::make_unique<Relational>(*this); }
  void lap() override;
  std::vector<std::pair<std::string, double>> terms() const override;
  Vec proportions(Index i) const override;
  Vec rates() const override;
  std::vector<Ends> ends(Index i) const override;
  std::vector<Array> arrays() const override;
  void split(const std::vector<Division>& divisions, double share) override;
  void merge(Index a, Index b) override;
  void drop(Index k) override;
  void permute(const std::vector<Index>& order) override;

  /// For tests: the bound at other sticks, all else as it is and θ̂ at its optimum.
  void hold_sticks(const HdpSticks& sticks);

 private:
  struct Weights {
    Vec none, link;  // of the K blocks, then of the background
  };
  Weights weights() const;
  void visit_links();
  void visit_nodes();
  void update_proportions();  // θ̂ and P of all nodes
  void set_proportions(Index i, const WeightMoments& pi);
  void sum_profiles();
  void update_statistics();
  void update_sticks();
  void expect_from_profiles();  // statistics as if links, too, had the profiles of their ends
  void spread_out();            // sizes of all arrays for K communities

  const LinkModel *blocks_, *background_;
  double gamma_, alpha_, each_way_;
  Vec zeros_;           // pairs without a link that a node is in, n
  Vec rho_;             // n × K
  Vec theta_, log_pi_;  // n × (K + 1)
  Vec ends_;            // expected link ends, n × K
  Vec sum_;             // Σ_i ρ_ik, K
  Vec q_n_, q_s_;       // Σ_links q(k, k) (1, y), K
  Vec n_, s_;           // statistics, K + 1, the background last
  double link_entropy_ = 0;
};

}  // namespace bnpvi::networks
