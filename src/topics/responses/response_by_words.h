// Effects of topics on responses, learned from proportions of topics that depend on words alone.
#pragma once
#include "topics/responses/response.h"

namespace bnpvi::topics {

/// A document with topics and counts that were found without its response.
struct SharesByWords {
  std::vector<Share> share;
  const double* value = nullptr;  // responses and covariates (ResponseModel::n_values)
  double length = 0, times = 1;
};

/// The posterior q(η) of the effects of k topics, updated in turn with the best local numbers of the
/// documents. New documents, for which responses are predicted, have topics that depend on words alone, while
/// the topics in a fit were moved to explain the documents' own responses. Effects learned from those of the
/// fit give too confident predictions, the more so the larger the weight of responses.
ResponsePosterior response_by_words(const ResponseModel& model, Index k,
                                    const std::vector<SharesByWords>& documents);

}  // namespace bnpvi::topics
