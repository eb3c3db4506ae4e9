// Effects of topics on responses, by what words alone say of the topics.
#pragma once
#include "topics/responses/response.h"

namespace bnpvi::topics {

/// A document with shares that its response had no part in.
struct SharesByWords {
  std::vector<Share> share;
  const double* value = nullptr;  // ResponseModel::n_values
  double length = 0, times = 1;
};

/// q(η), and local numbers at their best in turn with it, over k topics. Documents that are to be predicted
/// have such shares, while those of a fit have been moved to where they explain its responses: effects
/// learned from the latter are too sure of what is new, the more so the more responses weigh.
ResponsePosterior response_by_words(const ResponseModel& model, Index k,
                                    const std::vector<SharesByWords>& documents);

}  // namespace bnpvi::topics
