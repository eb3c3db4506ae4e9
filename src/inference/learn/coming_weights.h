// The weights of clusters for the next visit of a lap (a pass over all batches).
#pragma once
#include "inference/learn/state.h"

namespace bnpvi {

/// The weights for the next visit, as visiting_weights() computes them, and, in `evidence` (unless null), the
/// log evidence Λ(T_k) of each cluster. all_rows: the next visit covers all rows, as when one batch has them
/// all. The weights may then overshoot the gradient ∇Λ to converge faster (HiddenScales::hasten); if some
/// rows kept their q(z), the bound could fall.
std::shared_ptr<const Weights> coming_weights(const Problem& problem, const Summary& effective,
                                              double* evidence, bool all_rows);

/// The weights for the next visit of a lap: coming_weights() with all_rows = true if there is only one batch.
std::shared_ptr<const Weights> coming_weights(const Problem& problem, const Summary& effective,
                                              double* evidence);

}  // namespace bnpvi
