// The weights of clusters by which the next visit (update of q(z)) of a lap (a pass over all batches)
// multiplies features.
#pragma once
#include "inference/learn/state.h"

namespace bnpvi {

/// The weights for the next visit (update of q(z)), as visiting_weights() computes them. effective: the
/// summary (sums of statistics) that determines the posterior of the clusters. evidence: receives the log
/// evidence Λ(T_k) of each cluster, unless null. all_rows: the next visit covers all rows, as when one batch
/// has them all. The weights may then overshoot the gradient ∇Λ to converge faster (HiddenScales::hasten); if
/// some rows kept their q(z), the bound could fall.
std::shared_ptr<const Weights> coming_weights(const Problem& problem, const Summary& effective,
                                              double* evidence, bool all_rows);

/// The weights for the next visit (update of q(z)) of a lap (pass over all batches), computed with all_rows =
/// true only if one batch has all rows.
std::shared_ptr<const Weights> coming_weights(const Problem& problem, const Summary& effective,
                                              double* evidence);

}  // namespace bnpvi
