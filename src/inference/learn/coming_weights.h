// Weights for the next visit of a lap.
#pragma once
#include "inference/learn/state.h"

namespace bnpvi {

/// visiting_weights(), and Λ(T_k). all_rows: of which nothing stays as it was visited before, as where one
/// batch has them all; the weights may then go beyond ∇Λ (HiddenScales::hasten). Else the bound could fall.
std::shared_ptr<const Weights> coming_weights(const Problem& problem, const Summary& effective,
                                              double* evidence, bool all_rows);

/// The same in a lap.
std::shared_ptr<const Weights> coming_weights(const Problem& problem, const Summary& effective,
                                              double* evidence);

}  // namespace bnpvi
