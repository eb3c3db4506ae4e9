// Effects of topics on responses, learned from topic shares that depend on words alone.
#pragma once
#include "topics/responses/response.h"

namespace bnpvi::topics {

/// A document with shares that were found without its response.
struct SharesByWords {
  std::vector<Share> share;
  const double* value = nullptr;  // ResponseModel::n_values
  double length = 0, times = 1;
};

/// q(η) for k topics, found by alternating with the best local numbers. New documents, for which responses
/// are predicted, have shares that depend on words alone, while shares in a fit were moved to explain the
/// documents' own responses. Effects learned from the latter give too confident predictions, the more so the
/// larger the weight of responses.
ResponsePosterior response_by_words(const ResponseModel& model, Index k,
                                    const std::vector<SharesByWords>& documents);

}  // namespace bnpvi::topics
