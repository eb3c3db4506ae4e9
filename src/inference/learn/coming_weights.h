// The weights of the clusters for the next visit (update of q(z)), which multiplies the features of rows by
// them.
#pragma once
#include "inference/learn/state.h"

namespace bnpvi {

/// The weights for the next visit (update of q(z)), as in visiting_weights(). effective: the sums of
/// statistics that determine the posterior of the clusters. evidence: receives the log evidence Λ(T_k) of
/// each cluster, unless null. all_rows: whether the next visit covers all rows. Then the weights may go
/// past the gradient ∇Λ, which converges faster (HiddenScales::hasten). If some rows kept their q(z), such
/// weights could lower the bound.
std::shared_ptr<const Weights> coming_weights(const Problem& problem, const Summary& effective,
                                              double* evidence, bool all_rows);

/// The weights for the next visit in a lap (pass over all batches): all_rows is true if there is one batch.
std::shared_ptr<const Weights> coming_weights(const Problem& problem, const Summary& effective,
                                              double* evidence);

}  // namespace bnpvi
