// Mixtures: every row on its own, z_n ~ π.
#pragma once
#include <memory>

#include "inference/alloc_model.h"
#include "mixtures/candidates.h"

namespace bnpvi::mixtures {

/// Dirichlet process with concentration γ (sticks u_k ~ Beta(1, γ)) [Hughes 2016, §3.2].
std::unique_ptr<AllocModel> make_dp(double concentration);

/// Finite mixture, π ~ Dirichlet(γ/K, ..., γ/K).
std::unique_ptr<AllocModel> make_dirichlet(Index k, double concentration);

/// What all mixtures share: the local step. Units are rows; W_nk = E log p(x_n | φ_k) + E log π_k.
class MixtureAlloc : public AllocModel {
 public:
  SummaryShape shape(const ObsModel& obs) const override;
  bool grouped() const override { return false; }
  Summary local_step(const LocalInput& in) const override;
  std::shared_ptr<const Neighbours> neighbours(const LocalInput& in) const override;
  Summary summarise(const LocalInput& in, const GivenResponsibilities& resp) const override;
  Globals global_step(const Summary& total, const Globals& from) const override;

  Globals stochastic_step(const Globals& from, const Summary& noisy, double rate) const override;
  std::unique_ptr<Move> birth_move(const MoveContext& context) const override;
  std::unique_ptr<Move> merge_move(const MoveContext& context) const override;
  std::unique_ptr<Move> delete_move(const MoveContext& context) const override;
  std::unique_ptr<Move> resplit_move(const MoveContext& context) const override;

  /// E[log π_k], length K, at effective counts.
  virtual Vec expected_log_weights(const Vec& counts) const = 0;

 private:
  // local_step from a memory of earlier supports and from neighbours, few clusters for each row.
  Summary visit_again(const LocalInput& in, const SupportMemory& last, const Vec& log_pi) const;
};

/// Sum of the allocation model's terms, the entropy left out, at the globals that are optimal for clusters of
/// the given expected counts.
double allocation_value(const MixtureAlloc& alloc, const Vec& counts);

}  // namespace bnpvi::mixtures
