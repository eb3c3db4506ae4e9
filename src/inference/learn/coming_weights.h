// Weights for the next visit of a lap.
#pragma once
#include "inference/learn/state.h"

namespace bnpvi {

/// visiting_weights(), and Λ(T_k). all_rows: the next visit is of all rows, as if one batch has them all. The
/// weights may then overshoot ∇Λ (HiddenScales::hasten); with rows that keep their q(z) the bound could fall.
std::shared_ptr<const Weights> coming_weights(const Problem& problem, const Summary& effective,
                                              double* evidence, bool all_rows);

/// The same in a lap.
std::shared_ptr<const Weights> coming_weights(const Problem& problem, const Summary& effective,
                                              double* evidence);

}  // namespace bnpvi
