// Interface of models in which some clusters have names, and with the name a prior of their own.
#pragma once
#include <memory>
#include <vector>

#include "observations/capabilities.h"

namespace bnpvi {

/// A model some of whose clusters may have a name, a number from 1 to n_names(). A name means a separate
/// prior, under which the same statistic has another log evidence Λ. Callers that keep the names of clusters
/// use named() for a named cluster and this model for the others.
class NamedClusters {
 public:
  virtual Index n_names() const = 0;
  /// The model of a cluster with this name. Features and statistics are the same as for other clusters.
  virtual const ObsModel& named(int name) const = 0;
  /// Writes, for each of the n_names() names, by how much the log evidence Λ(T) of a cluster with statistic t
  /// = T is larger under the name than without a name. out: n_names() numbers.
  virtual void gains(const double* t, double* out) const = 0;
  /// The columns of the data whose values show that a row belongs to the cluster of this name, such as
  /// keywords.
  virtual const std::vector<int>& columns_of(int name) const = 0;
  /// The class of labels (class_sets.h) that is called the same: only clusters of this class can have the
  /// name. 0: there is none; the name is then for clusters of no class.
  virtual int class_of(int) const { return 0; }
  /// The model with its prior learned from K clusters (see LearnedPrior::learned()), some of which have
  /// names. names: the name of each cluster, 0 for none.
  virtual std::shared_ptr<const ObsModel> learned_with_names(const double* t, Index k,
                                                             const std::vector<int>& names, PriorSteps steps,
                                                             Pool* pool) const = 0;

 protected:
  ~NamedClusters() = default;
};

/// Whether `names` are valid for k clusters: empty (no names), or k numbers in which each name of the model
/// occurs once and all other clusters have 0.
bool has_names(const ObsModel& obs, const std::vector<int>& names, Index k);

/// The model of a cluster with this name; `obs` itself for name 0, a cluster without a name.
const ObsModel& under_name(const ObsModel& obs, int name);

/// The model with its prior learned from K clusters (see LearnedPrior::learned()). names: the name of each
/// cluster, 0 for none (NamedClusters); empty: no cluster has a name.
std::shared_ptr<const ObsModel> learned_prior(const ObsModel& obs, const double* t, Index k,
                                              const std::vector<int>& names, PriorSteps steps, Pool* pool);

/// Posterior parameters of K clusters (ObsModel::posterior()), each under the prior of its name; the next
/// function returns posterior means (ObsModel::mean_parameters()). names: empty if no cluster has a name.
NamedArrays posterior_of(const ObsModel& obs, const double* t, Index k, const std::vector<int>& names);
NamedArrays mean_parameters_of(const ObsModel& obs, const double* t, Index k, const std::vector<int>& names);

}  // namespace bnpvi
