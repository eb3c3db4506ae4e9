// A sampler of the topics of rows, for any observation model.
#pragma once
#include "sampling/row_features.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi::topics {

/// A row of document d has topic k with weight (n_dk + αβ_k) p(x | rows of topic k), the row itself not
/// counted, and a new topic with weight αβ_rest p(x). starts: rows of each document, numbered as those of
/// `rows`. The statistic of a row must not depend on its cluster, so missing cells are not replaced by
/// expected values.
std::unique_ptr<Sampler> make_row_sampler(const ObsModel& obs, const RowFeatures& rows,
                                          const std::vector<Index>& starts, const TopicPrior& prior,
                                          Pool& pool);

}  // namespace bnpvi::topics
