// A Gibbs sampler of the topics of rows, for any observation model.
#pragma once
#include "sampling/row_features.h"
#include "topics/sampling/topic_sampler.h"

namespace bnpvi::topics {

/// Makes a sampler that draws the topic of one row at a time given the topics of all other rows. A row x of
/// document d gets topic k with weight (n_dk + αβ_k) p(x | other rows of topic k), and a new topic with
/// weight αβ_rest p(x). n_dk: number of the document's other rows in topic k; α: concentration of documents;
/// β: weights of topics. starts: document d has the rows starts[d] .. starts[d + 1] − 1 of `rows`. Missing
/// cells are not replaced by expected values, since these would depend on the topic of the row.
std::unique_ptr<Sampler> make_row_sampler(const ObsModel& obs, const RowFeatures& rows,
                                          const std::vector<Index>& starts, const TopicPrior& prior,
                                          Pool& pool);

}  // namespace bnpvi::topics
