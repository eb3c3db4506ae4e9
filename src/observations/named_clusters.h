// Clusters with names, whose priors differ from those of the others.
#pragma once
#include <memory>
#include <vector>

#include "observations/capabilities.h"

namespace bnpvi {

/// A model some of whose clusters may have a name, 1 .. n_names(): a prior of its own, under which the same
/// statistic has another Λ. Who knows which cluster has which name asks the model under that name; all else
/// stays as it is.
class NamedClusters {
 public:
  virtual Index n_names() const = 0;
  /// The model of a cluster with this name; features and T are those of the others.
  virtual const ObsModel& named(int name) const = 0;
  /// Δ: by how much each name raises Λ(T), n_names() numbers.
  virtual void gains(const double* t, double* out) const = 0;
  /// The columns by which a row says that it belongs to a name.
  virtual const std::vector<int>& columns_of(int name) const = 0;
  /// LearnedPrior::learned() for clusters of which some have names.
  virtual std::shared_ptr<const ObsModel> learned_with_names(const double* t, Index k,
                                                             const std::vector<int>& names, PriorSteps steps,
                                                             Pool* pool) const = 0;

 protected:
  ~NamedClusters() = default;
};

/// True when these are names of k clusters: each of the model's once, or none at all.
bool has_names(const ObsModel& obs, const std::vector<int>& names, Index k);

/// The model of a cluster with this name; of one without (0) the model itself.
const ObsModel& under_name(const ObsModel& obs, int name);

/// LearnedPrior::learned() for clusters with these names (or none, if empty).
std::shared_ptr<const ObsModel> learned_prior(const ObsModel& obs, const double* t, Index k,
                                              const std::vector<int>& names, PriorSteps steps, Pool* pool);

/// ObsModel::posterior() and mean_parameters() of clusters with these names (or none, if empty).
NamedArrays posterior_of(const ObsModel& obs, const double* t, Index k, const std::vector<int>& names);
NamedArrays mean_parameters_of(const ObsModel& obs, const double* t, Index k, const std::vector<int>& names);

}  // namespace bnpvi
