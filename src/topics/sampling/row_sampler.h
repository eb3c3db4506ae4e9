// A Gibbs sampler of the topics of rows, for any observation model.
#pragma once
#include "sampling/row_features.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi::topics {

/// Makes the sampler. It draws topic k for a row x of document d with weight (n_dk + αβ_k) p(x | other rows
/// of topic k), where n_dk counts the document's other rows of topic k, and a new topic with weight αβ_rest
/// p(x). starts: rows of each document, numbered as those of `rows`. Missing cells are not replaced by
/// expected values, because the statistic of a row must not depend on its cluster.
std::unique_ptr<Sampler> make_row_sampler(const ObsModel& obs, const RowFeatures& rows,
                                          const std::vector<Index>& starts, const TopicPrior& prior,
                                          Pool& pool);

}  // namespace bnpvi::topics
