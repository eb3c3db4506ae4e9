#include "inference/learn/coming_weights.h"

#include "observations/hidden_scales.h"

namespace bnpvi {

std::shared_ptr<const Weights> coming_weights(const Problem& problem, const Summary& effective,
                                              double* evidence, bool all_rows) {
  const auto plain = visiting_weights(problem, effective, evidence);
  const HiddenScales* scales = hidden_scales(problem.obs);
  if (!scales || !all_rows) return plain;
  const auto further = std::make_shared<Weights>(*plain);
  for (Index j = 0; j < further->k; ++j) scales->hasten(effective.t(j), further->w.data() + j * further->p);
  return further;
}

std::shared_ptr<const Weights> coming_weights(const Problem& problem, const Summary& effective,
                                              double* evidence) {
  return coming_weights(problem, effective, evidence, problem.source.n_batches() == 1);
}

}  // namespace bnpvi
