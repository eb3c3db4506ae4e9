// Sums of products of messages over rows, from which expected transitions between states are computed.
#pragma once
#include "chains/messages/messages.h"
#include "inference/data/summary.h"

namespace bnpvi::chains {

/// Adds the products Σ_t from_t to_tᵀ of the messages of n rows (from, to: n × K) to sums, which has one K ×
/// K matrix for each position of a row in the chain (number of its transition matrix). position: position of
/// each row; null: 0 for all rows.
void add_pairs(const Chain& chain, Index n, const int* position, const double* from, const double* to,
               double* sums);

/// Computes expected transitions, adds them to the pair statistics of a summary and returns their entropy.
/// Unlike the result of add_transitions() in messages.h, pair statistics have the position (number of the
/// transition matrix) as their last index.
double add_transitions(const Chain& chain, const std::vector<Vec>& without_factor, const Vec& log_space,
                       Summary& to);

}  // namespace bnpvi::chains
