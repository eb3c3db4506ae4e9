// Interface of models in which some clusters have a name, and with it a separate prior.
#pragma once
#include <memory>
#include <vector>

#include "observations/capabilities.h"

namespace bnpvi {

/// A model in which some clusters may have a name, a number from 1 to n_names(). A cluster with a name has a
/// separate prior, so the same statistic has another log evidence Λ. Callers use named() for a cluster with a
/// name, and this model for the others.
class NamedClusters {
 public:
  virtual Index n_names() const = 0;
  /// The model of a cluster with this name. Features and statistics are the same as for other clusters.
  virtual const ObsModel& named(int name) const = 0;
  /// Writes for each of the n_names() names by how much the name raises the log evidence Λ(T) of a cluster
  /// with statistic T.
  virtual void gains(const double* t, double* out) const = 0;
  /// The columns of the data that show that a row belongs to the cluster with this name, such as keywords.
  virtual const std::vector<int>& columns_of(int name) const = 0;
  /// The class of labels (class_sets.h) to which this name belongs: only clusters of this class can have the
  /// name. 0: only clusters of no class can have it.
  virtual int class_of(int) const { return 0; }
  /// The model with its prior learned from K clusters, as in LearnedPrior::learned(). names: the name of each
  /// cluster, 0 for none.
  virtual std::shared_ptr<const ObsModel> learned_with_names(const double* t, Index k,
                                                             const std::vector<int>& names, PriorSteps steps,
                                                             Pool* pool) const = 0;

 protected:
  ~NamedClusters() = default;
};

/// Whether `names` are valid for k clusters. They are empty (no cluster has a name), or k numbers: each name
/// of the model occurs once, and the other clusters have 0.
bool has_names(const ObsModel& obs, const std::vector<int>& names, Index k);

/// The model of a cluster with this name; `obs` itself for name 0, a cluster without a name.
const ObsModel& under_name(const ObsModel& obs, int name);

/// The model with its prior learned from K clusters, as in LearnedPrior::learned(). names: the name of each
/// cluster, 0 for none; empty if no cluster has a name (NamedClusters).
std::shared_ptr<const ObsModel> learned_prior(const ObsModel& obs, const double* t, Index k,
                                              const std::vector<int>& names, PriorSteps steps, Pool* pool);

/// Posterior parameters of K clusters (ObsModel::posterior()), each under the prior of its name; the next
/// function returns posterior means (ObsModel::mean_parameters()). names: empty if no cluster has a name.
NamedArrays posterior_of(const ObsModel& obs, const double* t, Index k, const std::vector<int>& names);
NamedArrays mean_parameters_of(const ObsModel& obs, const double* t, Index k, const std::vector<int>& names);

}  // namespace bnpvi
