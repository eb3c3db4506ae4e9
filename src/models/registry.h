// Makes models from their names. Only this file lists all models; their fields are described in
// inst/design/glue.md.
#pragma once
#include <memory>
#include <vector>

#include "foundation/fields.h"
#include "hdp/dirichlet_rows.h"
#include "inference/learn/alloc_model.h"
#include "mixtures/partition_prior.h"
#include "observations/obs_models.h"
#include "sampling/sampler.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi {

/// Builds the observation model that fields.text("family") names; throws std::invalid_argument for an unknown
/// family.
std::unique_ptr<ObsModel> make_obs_model(const Fields& fields);
/// Returns the numbers of the closing features of this observation model. Only the results of a fit need
/// these features, never the fit itself; their weights in ∇Λ are 0. To save time, their sums are formed only
/// in one visit when a fit has ended, under weights that are 1 at these features. Before that the sums are 0.
std::vector<Index> closing_features(const Fields& obs);
/// Builds the allocation model (prior of the assignments to clusters) that the fields name. response: for
/// topic models, the model of the documents' responses; null: none.
std::unique_ptr<AllocModel> make_alloc_model(const Fields& fields, const Sparsity& sparsity = {},
                                             RowBound bound = RowBound::tight,
                                             const Fields* response = nullptr);
/// The prior of partitions that a prior of mixture weights implies. A concentration that is learned starts at
/// the mean of its prior.
mixtures::PartitionPrior make_partition_prior(const Fields& fields);
/// The prior of topics and their proportions for a Gibbs sampler, from the fields of a topic model.
topics::TopicPrior make_topic_prior(const Fields& fields);
/// Makes the posterior of a model given data, as the target of Markov chains. split_merge: number of
/// proposals of splits and merges in each sweep, for mixtures and sequences. Model and data must outlive the
/// target.
std::unique_ptr<Target> make_target(const Fields& prior, const ObsModel& obs, const Dataset& data,
                                    Index split_merge);

}  // namespace bnpvi
