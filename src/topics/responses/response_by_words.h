// Effects of topics on responses, learned from topic proportions that were found from words alone.
#pragma once
#include "topics/responses/response.h"

namespace bnpvi::topics {

/// A document with topics and counts that were computed from its words alone, without its response.
struct SharesByWords {
  std::vector<Share> share;
  const double* value = nullptr;  // responses and covariates (ResponseModel::n_values)
  double length = 0, times = 1;
};

/// The posterior q(η) of the effects of k topics on responses, for predictions of new documents. It is
/// computed in turn with the best local numbers of the documents (parameters of the bound on their responses'
/// log density). The topics of new documents depend on words alone. In a fit, the topics of a document were
/// also moved to explain its response. Effects learned from such topics would give too confident predictions,
/// especially if responses have a large weight.
ResponsePosterior response_by_words(const ResponseModel& model, Index k,
                                    const std::vector<SharesByWords>& documents);

}  // namespace bnpvi::topics
