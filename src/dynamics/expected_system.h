// The model of rows that are expected: dynamics of a mode and, where modes have one of their own, its
// emission.
#pragma once
#include <memory>

#include "dynamics/emission.h"
#include "foundation/fields.h"
#include "observations/named_clusters.h"

namespace bnpvi::dynamics {

/// The emission that fields describe, in engine units.
EmissionPrior emission_prior(const Fields& fields);

/// A product of conjugate families with counts of their own, since rows that begin a sequence know of no
/// dynamics and missing cells of no emission: of features (1, E φ of the dynamics, statistic of the
/// emission),
///   Λ(T) = Λ of the dynamics + Σ_j Λ_j − Σ_j N_j log unit_j.
/// Rows are expected under q(x), as those of make_expected_ar(): not for samplers or densities. Modes whose
/// noise is known are named, each by its place among these.
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
  /// None: rows do not say which mode they are of.
  const std::vector<int>& columns_of(int) const override { return no_columns_; }
  std::shared_ptr<const ObsModel> learned_with_names(const double*, Index, const std::vector<int>&,
                                                     PriorSteps, Pool*) const override {
    return nullptr;
  }

  const ObsModel& dynamics() const { return *dynamics_; }
  /// Of the statistic of one mode: what is of its dynamics, and of its emission.
  const double* of_dynamics(const double* t) const { return t + 1; }
  EmissionStatistics of_emission(const double* t) const {
    return EmissionStatistics(emission_, t + 1 + n_dynamics_);
  }

 private:
  Vec dynamics_of(const double* t, Index k) const;  // K × p, one after the other

  std::shared_ptr<const ObsModel> dynamics_;
  EmissionPrior emission_;
  std::vector<std::unique_ptr<const ExpectedSystem>> modes_;
  std::vector<int> no_columns_;
  Vec log_units_;
  Index n_dynamics_;
};

/// With `by_mode` an ExpectedSystem, else the dynamics alone (make_lds).
std::unique_ptr<ObsModel> make_system(const Fields& fields);

}  // namespace bnpvi::dynamics
