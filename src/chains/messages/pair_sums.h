// Sums over rows from which expected transitions are computed.
#pragma once
#include "chains/messages/messages.h"
#include "inference/data/summary.h"

namespace bnpvi::chains {

/// Adds Σ_t from_t to_tᵀ over n rows (from, to: n × K) to sums, which has one K × K matrix for each position
/// of the chain. position: position of each row; null: all 0.
void add_pairs(const Chain& chain, Index n, const int* position, const double* from, const double* to,
               double* sums);

/// As add_transitions() of messages.h: computes expected transitions and returns their entropy, but adds them
/// to the pair statistics of a summary, which are laid out differently: the position is the last index.
double add_transitions(const Chain& chain, const std::vector<Vec>& without_factor, const Vec& log_space,
                       Summary& to);

}  // namespace bnpvi::chains
