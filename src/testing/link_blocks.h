// For tests: the smallest model with statistics of pairs of clusters.
#pragma once
#include "inference/learn/alloc_capabilities.h"

namespace bnpvi::testing {

/// A block model of links. A link is a group of two rows, its ends i = 1, 2. Each row has counts of tokens
/// (such as nodes), with the same total y > 0 in both. The blocks z_1, z_2 of a link's ends are drawn by
///
///   (z_1, z_2) ~ π over the K² ordered pairs, π ~ Dirichlet(1, ..., 1),   y | z ~ Poisson(φ_{z_1 z_2}),
///   φ_lj ~ Gamma(1, rate 1),   the y tokens of end i by the observation model of cluster z_i.
///
/// q(z_1, z_2) is exact. Summary::pair has two numbers for each pair of blocks (l, j): M = Σ q(l, j) and S =
/// Σ q(l, j) y, sums over links. π and φ are integrated out:
///
///   ELBO = Σ_k Λ(T_k) + log Γ(K²) − log Γ(K² + ΣM) + Σ_lj log Γ(1 + M_lj)
///          + Σ_lj [log Γ(1 + S_lj) − (1 + S_lj) log(1 + M_lj)] − Σ log y! + H(q)
///
/// K changes by merges of blocks. A merge compares the bounds of the models with K and with K − 1 blocks. The
/// model uses one thread.
class LinkBlocks final : public AllocModel, public OwnStatistics {
 public:
  LinkBlocks() : AllocModel({true, false}, {}) {}

  /// Sizes of a summary. Its two scalars are the entropy of q and Σ −log y!, a sum over links.
  SummaryShape shape(const ObsModel& obs) const override { return {obs.n_features(), 0, 2, 2}; }
  Summary local_step(const Visit& in) const override;
  /// Computes the statistics of pairs of blocks for a start. There the two ends of a link are independent,
  /// and y is 1.
  void complete_start(Summary& start, double n_groups) const override;
  Summary summarise(const Visit& in, const GivenResponsibilities& resp) const override;
  Globals global_step(const Summary& total, const Globals&) const override { return {total, {}, {}}; }
  Globals stochastic_step(const Globals& from, const Summary& noisy, double rate) const override;
  Terms elbo_terms(const Summary& total, const Globals& globals) const override;
  Vec mean_weights(const Globals& globals) const override;  // weights of the blocks of first ends
  NamedArrays posterior(const Globals&) const override { return {}; }
  AllocCapabilities capabilities() const override {
    AllocCapabilities out;
    out.statistics = this;
    return out;
  }
  // The only kind is merge. It joins the best pair of blocks of a lap (a pass over all batches); then all
  // links are visited again.
  std::vector<MoveKind> moves() const override;
};

}  // namespace bnpvi::testing
