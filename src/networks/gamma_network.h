// Overlapping communities whose nodes have degrees of their own.
#pragma once
#include "networks/overlap.h"

namespace bnpvi::networks {

struct GammaPriors {
  double gamma, alpha;                // of the top level, and of nodes, α ≤ 1
  double a, b;                        // φ_k ~ Gamma(a, rate b)
  double a_background, b_background;  // ε
  bool counts;                        // y_ij = m_ij; otherwise y_ij = 1(m_ij > 0)
};

/// m_ij ~ Poisson(ε T_i T_j + Σ_k φ_k t_ik t_jk), t_ik ~ Gamma(αβ_k, rate α), T_i = Σ_k t_ik, β by sticks of
/// γ: then t_i / T_i ~ DP(αβ) are the memberships of node i, and T_i ~ Gamma(α, α), independent of them, its
/// activity. A pair without a link costs −E λ_ij, which is a sum over communities of products: all n² of them
/// take O(nK).
///
/// With l_ij the rate at the geometric means (tilde), m_ij of a link is a Poisson count that is not 0, and is
/// shared among communities and background in proportion to their parts of l. q of everything else is a
/// product of Gamma and Beta distributions. Communities beyond K keep their prior under q and are integrated:
/// the bound is one of the model with infinitely many. The prior of t enters through −log Γ(απ_k) ≥ log α +
/// log π_k, which α ≤ 1 allows. Directed: a pair each way, with the same memberships at both ends.
class GammaNetwork final : public Overlap {
 public:
  /// weight: n × k, row-major, ≥ 0: where the shares of the nodes begin; a row of zeros is spread evenly.
  GammaNetwork(const Links& links, const GammaPriors& priors, Index k, const Vec& weight);

  std::unique_ptr<Overlap> copy() const override { return std::make_unique<GammaNetwork>(*this); }
  void lap() override;
  std::vector<std::pair<std::string, double>> terms() const override;
  Vec proportions(Index i) const override;
  Vec rates() const override;
  std::vector<Array> arrays() const override;
  void split(const std::vector<Division>& divisions, double share) override;
  void merge(Index a, Index b) override;
  void drop(Index k) override;
  void permute(const std::vector<Index>& order) override;

 private:
  void visit_links();
  void visit_nodes();
  void update_rates();
  void update_sticks();
  void sum_nodes();                // totals of the means
  double per_node(Index i) const;  // observed pairs that node i is in
  double exposure(Index k) const;  // Σ over observed pairs of t̄_ik t̄_jk
  struct Rest {
    double mean, square;  // of Σ_{k>K} t_ik: its mean, and the mean of a product of two nodes'
  };
  Rest rest(const WeightMoments& pi) const;
  double background_exposure(const Rest& rest) const;
  void set_node(Index i, Index k, double shape, double rate, double digamma_of_shape);

  GammaPriors priors_;
  double pairs_each_way_;  // 1, directed 2: times that a pair of nodes counts
  // q(t_ik) = Gamma(shape, rate): n × K each, row-major, with the mean and E log.
  Vec shape_, rate_, mean_, log_;
  Vec total_;                 // Σ_k mean, n
  Vec sum_;                   // Σ_i mean, K
  double all_ = 0;            // Σ_i Σ_k mean
  Vec phi_shape_, phi_rate_;  // K + 1, the background last
  Vec phi_log_;
  Vec counts_;              // Σ m_ijk of the last visit of the links, K + 1
  double links_value_ = 0;  // Σ_links log(e^l − 1) or y log l − log y!, minus Σ counts · E log at that visit
};

}  // namespace bnpvi::networks
