// A Gibbs sampler of the topics of rows, for any observation model.
#pragma once
#include "sampling/row_features.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi::topics {

/// Makes the sampler. For a row x of document d it draws topic k with weight (n_dk + αβ_k) p(x | other rows
/// of topic k), and a new topic with weight αβ_rest p(x). n_dk: number of the document's other rows in topic
/// k. starts: the rows of each document, numbered as those of `rows`. Missing cells are not replaced by
/// expected values, since the statistic of a row must not depend on its cluster.
std::unique_ptr<Sampler> make_row_sampler(const ObsModel& obs, const RowFeatures& rows,
                                          const std::vector<Index>& starts, const TopicPrior& prior,
                                          Pool& pool);

}  // namespace bnpvi::topics
