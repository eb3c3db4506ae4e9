// Topics of rows of any observation model, by urns.
#pragma once
#include "sampling/row_features.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi::topics {

/// A row of document d has topic k with weight (n_dk + αβ_k) p(x | rows of topic k), counts without the row,
/// a new topic αβ_rest p(x). starts: rows of each document, numbered as those of `rows`. Rows whose statistic
/// must not depend on the cluster: no cells are expected.
std::unique_ptr<Sampler> make_row_sampler(const ObsModel& obs, const RowFeatures& rows,
                                          const std::vector<Index>& starts, const TopicPrior& prior,
                                          Pool& pool);

}  // namespace bnpvi::topics
