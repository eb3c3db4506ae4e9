// Clusters with names, whose priors differ from those of the others.
#pragma once
#include <memory>
#include <vector>

#include "observations/capabilities.h"

namespace bnpvi {

/// A model some of whose clusters may have a name, a number from 1 to n_names(). A name means a prior of its
/// own, under which the same statistic has another Λ. Callers that keep the names of clusters use the model
/// named() for a named cluster; everything else works as without names.
class NamedClusters {
 public:
  virtual Index n_names() const = 0;
  /// The model of a cluster with this name; features and T are the same as for other clusters.
  virtual const ObsModel& named(int name) const = 0;
  /// Writes, for each name, Δ: how much Λ(T) is larger under the name than without a name (n_names()
  /// numbers).
  virtual void gains(const double* t, double* out) const = 0;
  /// The columns whose values indicate that a row belongs to this name, such as keywords.
  virtual const std::vector<int>& columns_of(int name) const = 0;
  /// As LearnedPrior::learned(), for clusters some of which have names.
  virtual std::shared_ptr<const ObsModel> learned_with_names(const double* t, Index k,
                                                             const std::vector<int>& names, PriorSteps steps,
                                                             Pool* pool) const = 0;

 protected:
  ~NamedClusters() = default;
};

/// Are these valid names for k clusters? Yes if empty, or if there are k numbers in which each name of the
/// model occurs once, other clusters having 0.
bool has_names(const ObsModel& obs, const std::vector<int>& names, Index k);

/// The model of a cluster with this name; `obs` itself for name 0, a cluster without a name.
const ObsModel& under_name(const ObsModel& obs, int name);

/// As LearnedPrior::learned(), for clusters with these names (NamedClusters); empty: no cluster has a name.
std::shared_ptr<const ObsModel> learned_prior(const ObsModel& obs, const double* t, Index k,
                                              const std::vector<int>& names, PriorSteps steps, Pool* pool);

/// ObsModel::posterior(), and below it ObsModel::mean_parameters(), of clusters with these names; empty: no
/// cluster has a name.
NamedArrays posterior_of(const ObsModel& obs, const double* t, Index k, const std::vector<int>& names);
NamedArrays mean_parameters_of(const ObsModel& obs, const double* t, Index k, const std::vector<int>& names);

}  // namespace bnpvi
