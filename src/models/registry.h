// Makes models by name; the only place that names them all (their fields: inst/design/glue.md).
#pragma once
#include <memory>

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
/// response: of documents, for models of topics.
std::unique_ptr<AllocModel> make_alloc_model(const Fields& fields, const Sparsity& sparsity = {},
                                             RowBound bound = RowBound::tight,
                                             const Fields* response = nullptr);
/// The prior of partitions of an allocation model that is a mixture; where its concentration is learned, that
/// is at the mean of its prior.
mixtures::PartitionPrior make_partition_prior(const Fields& fields);
/// The prior of topics of an allocation model that is one of topics.
topics::TopicPrior make_topic_prior(const Fields& fields);
/// The posterior of an allocation model on data, for chains; split_merge: proposals of splits and merges a
/// sweep, of mixtures and sequences. Model and data must outlive it.
std::unique_ptr<Target> make_target(const Fields& prior, const ObsModel& obs, const Dataset& data,
                                    Index split_merge);

}  // namespace bnpvi
