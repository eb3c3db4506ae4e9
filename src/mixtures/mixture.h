// Mixtures: the rows are independent, z_n ~ π.
#pragma once
#include <memory>

#include "foundation/gamma_prior.h"
#include "inference/learn/alloc_capabilities.h"
#include "mixtures/candidates.h"

namespace bnpvi::mixtures {

/// Pitman–Yor process: sticks u_k ~ Beta(1 − d, γ + kd) with concentration γ > −d and discount 0 ≤ d < 1
/// [Pitman & Yor 1997]. d = 0 is the Dirichlet process [Hughes 2016, §3.2].
std::unique_ptr<AllocModel> make_pitman_yor(double concentration, double discount, const Sparsity& sparsity);

/// The same with γ > 0 integrated over its prior (ConcentrationPosterior).
std::unique_ptr<AllocModel> make_pitman_yor(const GammaPrior& concentration, double discount,
                                            const Sparsity& sparsity);

/// Finite mixture, π ~ Dirichlet(γ/K, ..., γ/K).
std::unique_ptr<AllocModel> make_dirichlet(Index k, double concentration, const Sparsity& sparsity);

/// What all mixtures share: the local step. Units are rows; W_nk = E log p(x_n | φ_k) + E log π_k.
class MixtureAlloc : public AllocModel, public WorkReader {
 public:
  /// fixed_k: 0 where sticks order any number of clusters.
  MixtureAlloc(Index fixed_k, const Sparsity& sparsity)
      : AllocModel({false, fixed_k == 0, fixed_k}, sparsity) {}
  SummaryShape shape(const ObsModel& obs) const override;
  Summary local_step(const Visit& in) const override;
  std::unique_ptr<Visitor> visitor() const override;
  Summary summarise(const Visit& in, const GivenResponsibilities& resp) const override;
  Globals global_step(const Summary& total, const Globals& from) const override;

  Globals stochastic_step(const Globals& from, const Summary& noisy, double rate) const override;
  std::vector<MoveKind> moves() const override;
  AllocCapabilities capabilities() const override {
    AllocCapabilities out;
    out.work = this;
    return out;
  }
  std::unique_ptr<Watch> read_watch(const std::string& kind, Reader& in) const override;
  std::unique_ptr<BatchWork> read_work(const std::string& kind, Index batch,
                                       std::shared_ptr<const WorkGlobals> at, Reader& in) const override;

  /// E[log π_k], length K, at effective counts.
  virtual Vec expected_log_weights(const Vec& counts) const = 0;

 private:
  class NearVisitor;
  // Neighbours that each cluster has when there are k clusters; 0 when rows are compared with all clusters.
  Index count_neighbours(Index k) const;
  // Rows that were visited before may be compared with neighbours only, if these are given.
  Summary step(const Visit& in, const Neighbours* near) const;
  // The same from a memory of earlier supports, few clusters for each row.
  Summary visit_again(const Visit& in, const Neighbours& near, const UnitMemory& last,
                      const Vec& log_pi) const;
};

/// Parameters of q(u_k | γ) = Beta(1 − d + N_k, γ + kd + N_>k) for counts in stick order: "sticks", K × 2.
NamedArray sticks_array(double concentration, double discount, const Vec& counts);

/// Sum of the allocation model's terms except the entropy, at the optimal globals, for clusters of the given
/// expected counts.
double allocation_value(const MixtureAlloc& alloc, const Vec& counts);

}  // namespace bnpvi::mixtures
