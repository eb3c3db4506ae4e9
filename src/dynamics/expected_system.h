// The observation model of the modes of a switching linear system, given q(x), the posterior of the hidden
// states. Its "rows" are expected statistics: E φ of the dynamics and, if modes have separate emissions,
// those of the emission.
#pragma once
#include <memory>

#include "dynamics/emission.h"
#include "foundation/fields.h"
#include "observations/named_clusters.h"

namespace bnpvi::dynamics {

/// Makes the prior of the emission (regressions of the observed columns on the hidden state) that these
/// fields describe, in engine units (columns divided by their units).
EmissionPrior emission_prior(const Fields& fields);

/// The observation model of the modes of a switching system: a product of two conjugate families, dynamics
/// and emission. Each family has its own counts, since the first row of a sequence has no dynamics, and a
/// missing cell has no emission. The features of a row are (1, E φ of the dynamics, statistic of the
/// emission). The log evidence of a mode with statistic T is
///   Λ(T) = Λ of the dynamics + Σ_j Λ_j − Σ_j N_j log unit_j,
/// with sums over the columns j of the emission. Rows are expectations under q(x), the posterior of hidden
/// states. So they have no densities and cannot be sampled. Modes with known noise have names (ClusterNames):
/// the number of their noise among the known ones.
class ExpectedSystem final : public ObsModel, public ColumnUnits, public NamedClusters {
 public:
  ExpectedSystem(std::shared_ptr<const ObsModel> dynamics, const EmissionPrior& emission, Vec log_units);

  Index n_features() const override { return 1 + n_dynamics_ + emission_.n_statistics(); }
  Index n_columns() const override { return n_features(); }
  void features(const Dataset& data, const Index* rows, Index n, double* phi, Index ld) const override;
  double log_evidence(const double* t) const override;
  void weights(const double* t, double* w) const override;
  void point_estimate(const double* t, double* mean, double* w) const override;
  void draw(const double* t, Stream& stream, double* w) const override;
  NamedArrays posterior(const double* t, Index k) const override;
  NamedArrays mean_parameters(const double* t, Index k) const override;
  Capabilities capabilities() const override;
  void re_express(const ObsModel& from, double* t) const override;
  double strain() const override;

  Index n_names() const override { return static_cast<Index>(modes_.size()); }
  const ObsModel& named(int name) const override { return *modes_[static_cast<std::size_t>(name - 1)]; }
  void gains(const double* t, double* out) const override;
  /// Returns no columns: no single column of a row determines its mode.
  const std::vector<int>& columns_of(int) const override { return no_columns_; }
  std::shared_ptr<const ObsModel> learned_with_names(const double*, Index, const std::vector<int>&,
                                                     PriorSteps, Pool*) const override {
    return nullptr;
  }

  const ObsModel& dynamics() const { return *dynamics_; }
  /// The part of one mode's statistic t that belongs to the dynamics; of_emission(): the part for the
  /// emission.
  const double* of_dynamics(const double* t) const { return t + 1; }
  EmissionStatistics of_emission(const double* t) const {
    return EmissionStatistics(emission_, t + 1 + n_dynamics_);
  }

 private:
  // the part of K statistics that belongs to the dynamics, K × p
  Vec dynamics_of(const double* t, Index k) const;

  std::shared_ptr<const ObsModel> dynamics_;
  EmissionPrior emission_;
  std::vector<std::unique_ptr<const ExpectedSystem>> modes_;
  std::vector<int> no_columns_;
  Vec log_units_;
  Index n_dynamics_;
};

/// Makes the observation model of the modes: an ExpectedSystem if the fields have `by_mode` (separate
/// emissions), else the model of the dynamics alone (make_lds).
std::unique_ptr<ObsModel> make_system(const Fields& fields);

}  // namespace bnpvi::dynamics
