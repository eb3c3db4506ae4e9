// Makes models from their names; the only place that lists them all (for their fields see
// inst/design/glue.md).
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

/// Builds the model that fields.text("family") names; throws std::invalid_argument for an unknown family.
std::unique_ptr<ObsModel> make_obs_model(const Fields& fields);
/// The closing features of this model, by their numbers: those that only its results need, never its fit,
/// where their weights in ∇Λ are 0. To save time, their sums are formed only in a visit under weights that
/// are 1 at these features, made once when a fit has ended; else they are 0.
std::vector<Index> closing_features(const Fields& obs);
/// response: model of the documents' responses, for topic models; null: none.
std::unique_ptr<AllocModel> make_alloc_model(const Fields& fields, const Sparsity& sparsity = {},
                                             RowBound bound = RowBound::tight,
                                             const Fields* response = nullptr);
/// The prior of partitions that belongs to a prior of mixture weights. A concentration that is learned starts
/// at the mean of its prior.
mixtures::PartitionPrior make_partition_prior(const Fields& fields);
/// The prior of topics in a sampler, from the fields of a topic model.
topics::TopicPrior make_topic_prior(const Fields& fields);
/// The posterior of a model given data, as the target of Markov chains. split_merge: proposals of splits and
/// merges in each sweep, for mixtures and sequences. Model and data must outlive the target.
std::unique_ptr<Target> make_target(const Fields& prior, const ObsModel& obs, const Dataset& data,
                                    Index split_merge);

}  // namespace bnpvi
